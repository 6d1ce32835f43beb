/* Two threads that are in `early` for the first 30 % of every millisecond by the clock, and in
   `late` for the rest, until each has used as many milliseconds of processor time as argument 1
   says. Each then tells its number and the share of its time that it spent in `early`. */

#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "shares.h"

enum { PERIOD_NS = 1000000, EARLY_NS = 300000, TURNS = 300 };

static long now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

APART void early(void) {
    chain(TURNS);
}
APART void late(void) {
    chain(TURNS);
}

static void* work(void* limit_ms) {
    long limit_ns = (long)limit_ms * 1000000, spent_ns[2] = {0, 0}, before_ns = 0;
    int was_early = 0;
    while (spent_ns[0] + spent_ns[1] < limit_ns) {
        int is_early = now_ns(CLOCK_MONOTONIC) % PERIOD_NS < EARLY_NS;
        if (is_early != was_early) {
            long used_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
            spent_ns[was_early] += used_ns - before_ns;
            before_ns = used_ns;
            was_early = is_early;
        }
        if (is_early)
            early();
        else
            late();
    }
    printf("%d %.6f\n", gettid(), (double)spent_ns[1] / (double)(spent_ns[0] + spent_ns[1]));
    return NULL;
}

int main(int count, char** words) {
    void* limit_ms = (void*)(count > 1 ? atol(words[1]) : 1000);
    pthread_t second;
    pthread_create(&second, NULL, work, limit_ms);
    work(limit_ms);
    pthread_join(second, NULL);
    return 0;
}
