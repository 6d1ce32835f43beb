/* What glibc finds by who calls: the next definition of a name, and the own RUNPATH of a library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef LIBRARY
int open_neighbour(void);
int open_neighbour(void) {
    void* handle = dlopen("libneighbour.so", RTLD_NOW);
    int (*answer)(void) = handle == NULL ? NULL : (int (*)(void))dlsym(handle, "answer");
    return answer == NULL ? -1 : answer();
}
#elif defined(NEIGHBOUR)
int answer(void);
int answer(void) {
    return 42;
}
#else
int open_neighbour(void);
__attribute__((noinline)) static void* here(void) {
    return __builtin_return_address(0);
}

int main(void) {
    void* next = dlsym(RTLD_NEXT, "puts");
    void* versioned = dlvsym(RTLD_NEXT, "puts", "GLIBC_2.2.5");
    void* missing = dlsym(RTLD_NEXT, "no such name");
    Dl_info about = {0};
    const int found = dladdr(here(), &about);
    printf("%d %d %d %d\n", next != NULL, versioned == next, missing == NULL, dlerror() != NULL);
    printf("%d %d\n", found, open_neighbour());
    return 0;
}
#endif
