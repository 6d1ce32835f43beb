/* How fast this machine is right now: the times, in seconds, of a fixed amount of arithmetic and of
   a fixed amount of reading. What shares a core or a cache with this one makes them longer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TURNS = 25000000, WORDS = 1 << 20, PASSES = 40 };

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void) {
    uint64_t *words = calloc(WORDS, sizeof *words);
    if (words == NULL)
        return 1;
    for (size_t at = 0; at < WORDS; ++at)
        words[at] = at;
    double begin_s = now_s();
    uint64_t a = 1, b = 2, c = 3, d = 4;
    /* Independent of each other, so that they take all that a core can do at once. */
    for (long turn = 0; turn < TURNS; ++turn)
        __asm__ volatile("add $1, %0\n\txor $3, %1\n\tadd $7, %2\n\tlea 1(%3), %3"
                         : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    const double arithmetic_s = now_s() - begin_s;
    begin_s = now_s();
    uint64_t sum = 0;
    for (int pass = 0; pass < PASSES; ++pass) {
        for (size_t at = 0; at < WORDS; at += 8)
            sum += words[at];
        __asm__ volatile("" : "+r"(sum));
    }
    printf("%.6f %.6f\n", arithmetic_s, now_s() - begin_s);
    free(words);
    return (int)(a + b + c + d + sum == 0);
}
