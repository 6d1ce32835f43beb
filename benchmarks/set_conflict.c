/* 32 small functions that are called in turn, and 32 large ones that are not.
 *
 * Each small one fits a cache line and each large one all lines but one of 4096 bytes, so that the
 * order of functions decides: side by side the small ones have a set of the instruction cache (64
 * sets of 64 bytes) each; in turn with the large ones they share one, which has 8 ways. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SMALL(n)                                                           \
    __attribute__((noinline, aligned(64))) uint64_t small##n(uint64_t x) { \
        x ^= x >> 7 ^ n;                                                   \
        __asm__ volatile("" : "+r"(x));                                    \
        return x + n;                                                      \
    }
#define LARGE(n)                                                                 \
    __attribute__((noinline, aligned(64), used)) uint64_t large##n(uint64_t x) { \
        __asm__ volatile(".skip 3984, 0x90" : "+r"(x));                          \
        return x + n;                                                            \
    }
#define CALL(n) x = small##n(x);
#define EIGHT(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7)
#define ALL(M) EIGHT(M, 10) EIGHT(M, 11) EIGHT(M, 12) EIGHT(M, 13)

ALL(SMALL)
ALL(LARGE)

__attribute__((noinline)) static uint64_t work(uint64_t x) {
    for (int i = 0; i < 1000; ++i) {
        ALL(CALL)
    }
    return x;
}

int main(int argc, char** argv) {
    const long count = argc > 1 ? strtol(argv[1], 0, 10) : 3000;
    uint64_t x = 1;
    for (long i = 0; i < count; ++i)
        x = work(x);
    printf("%llu\n", (unsigned long long)x);
    return 0;
}
