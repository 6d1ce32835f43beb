/* Prints a number that every layout of the program must give. */
#include <stdio.h>

#include "shapes.h"

static const char* where(void) {
    return __FILE__;
}

int main(void) {
    int sum = circle(3) + circle_twice(4) + square(5) + square_twice(6);
    printf("%d %c\n", first_of(sum, 1) + second_of(2, 3), where()[0] ? 'y' : 'n');
    return 0;
}
