/* Preloaded: ends a program when its own constructors would begin, so that what is left is the
   kernel, the dynamic linker, and what a runtime does before all constructors. */
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void leave(void) {
    char* volatile object = malloc(1);
    _exit(object == NULL);
}
