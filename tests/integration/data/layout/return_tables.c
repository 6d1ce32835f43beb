/* Looks up where calls return to, as a collector does that walks the stack. */
#include <stdio.h>

extern void* const return_table[2];
void* calls_of_ocaml(void);
void* calls_by_register(void);

__attribute__((noinline)) void* where_it_returns(void) {
    return __builtin_return_address(0);
}

int main(void) {
    printf("%d %d\n", calls_of_ocaml() == return_table[0], calls_by_register() == return_table[1]);
    return 0;
}
