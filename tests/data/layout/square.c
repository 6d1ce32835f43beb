#include "shapes.h"

static __attribute__((noinline)) int scaled(int value) {
    return value + 1;
}

int square(int side) {
    return scaled(side * side);
}
int square_twice(int side) {
    return scaled(side * side) * 2;
}
