/* Coroutines whose stacks the program switches by itself. They wait, deep in calls, while the main
   program works for longer than several layouts last; then they go on. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define APART __attribute__((noinline))

enum { coroutines = 4, stack_bytes = 256 << 10 };
struct context {
    void* stack_pointer;
};
static struct context of_main, contexts[coroutines];
static volatile long sink;

/* In assembly, beside this or in a library of its own. */
void change_over(struct context* from, struct context* to);

static long now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

APART static long work(long left) {
    sink += left;
    return left == 0 ? 0 : work(left - 1) + sink % 2;
}

APART static long wait_deep(long own, long left) {
    if (left == 0) {
        change_over(&contexts[own], &of_main);
        return 1;
    }
    return wait_deep(own, left - 1) + 1;
}

static long current;
static volatile long results[coroutines];

static void body(void) {
    const long own = current;
    for (;;) {
        for (long depth = 1; depth < 40; depth += 3)
            results[own] += wait_deep(own, depth) - depth;
    }
}

static void prepare(struct context* of) {
    char* stack =
        mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t* top = (uintptr_t*)(stack + stack_bytes - 64);
    *--top = 0;
    *--top = (uintptr_t)body;
    of->stack_pointer = top - 6;
}

int main(int count, char** words) {
    const long rounds = count > 1 ? atol(words[1]) : 20;
    for (int at = 0; at < coroutines; ++at)
        prepare(&contexts[at]);
    for (long round = 0; round < rounds; ++round) {
        for (current = 0; current < coroutines; ++current)
            change_over(&of_main, &contexts[current]);
        const long until = now_us() + 15000;
        while (now_us() < until)
            work(20);
    }
    for (int at = 0; at < coroutines; ++at)
        printf("%ld\n", results[at]);
    return 0;
}
