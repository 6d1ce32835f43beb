/* Calls a function of Go's, and one beside it. */
#include <stdio.h>

int one_of_go(void);
int one_of_c(void);

int main(void) {
    printf("%d\n", one_of_go() + one_of_c());
    return 0;
}
