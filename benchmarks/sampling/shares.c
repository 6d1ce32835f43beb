/* Programs whose functions take known shares of the time: argument 1 names one, argument 2 says
   for how many milliseconds of processor time it goes on. `timed` does as many rounds of `loops`
   as argument 2 says, and writes to the file that argument 3 names how long it took.

   What a function does is a chain of multiplications, each waiting for the one before: it takes as
   long wherever it lies, so the numbers of turns are the shares. The next chain begins while the
   end of the last one waits in the processor, some forty turns early: a chain is far longer. */

#define _GNU_SOURCE
#include "shares.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 10 };

APART void one(void) {
    chain(UNIT);
}
APART void two(void) {
    chain(2 * UNIT);
}
APART void four(void) {
    chain(4 * UNIT);
}
static void loops(void) {
    one();
    two();
    four();
}

APART void inner(void) {
    chain(UNIT);
}
APART void outer(void) {
    inner();
    chain(3 * UNIT);
    inner();
}

APART void bottom(void) {
    chain(8 * UNIT);
}
APART void descend(int depth) {
    chain(UNIT);
    if (depth > 1)
        descend(depth - 1);
    else
        bottom();
    KEEP_FRAME;
}
static void recursion(void) {
    descend(8);
}

/* Some nanoseconds each, called one after the other. */
APART unsigned long brief(unsigned long x) {
    return STEPS_4(STEPS_4(x));
}
APART unsigned long longer(unsigned long x) {
    return STEPS_8(STEPS_8(STEPS_8(x)));
}
static void brevity(void) {
    unsigned long x = 1;
    for (int i = 0; i < UNIT / 4; i++)
        x = longer(brief(x));
    __asm__ volatile("" : : "r"(x));
}

APART void here(void) {
    chain(UNIT);
}
static void library(void) {
    here();
    in_library();
}

/* What a just-in-time compiler does: code in memory of its own, and a map of it. */
static void (*compiled[2])(long);
static void compile(void) {
    static const unsigned char code[] = {
        0x48, 0xc7, 0xc0, 1,    0,    0,    0,    /* mov $1, %rax */
        0x48, 0x69, 0xc0, 0x2d, 0x7f, 0x95, 0x4c, /* imul $0x4c957f2d, %rax, %rax */
        0x48, 0xff, 0xc0,                         /* inc %rax */
        0x48, 0xff, 0xcf,                         /* dec %rdi */
        0x75, 0xf1,                               /* jnz the multiplication */
        0xc3,                                     /* ret */
    };
    char path[64];
    char* memory =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    FILE* map = fopen(path, "w");
    if (memory == MAP_FAILED || map == NULL)
        exit(2);
    for (int i = 0; i < 2; i++) {
        memcpy(memory + 256 * i, code, sizeof code);
        compiled[i] = (void (*)(long))(memory + 256 * i);
        fprintf(map, "%lx %zx jitted_%s\n", (long)compiled[i], sizeof code, i ? "three" : "one");
    }
    fclose(map);
}
static void just_in_time(void) {
    compiled[0](UNIT);
    compiled[1](3 * UNIT);
}

static long used_ms(clockid_t clock) {
    struct timespec used;
    clock_gettime(clock, &used);
    return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static void repeat(void (*what)(void), long limit_ms) {
    while (used_ms(CLOCK_THREAD_CPUTIME_ID) < limit_ms) {
        for (int i = 0; i < ROUNDS; i++)
            what();
    }
}

/* Three threads that do as many rounds, of one, two and four units. */
struct job {
    void (*what)(void);
    long rounds;
};
static void* do_job(void* given) {
    const struct job* job = given;
    for (long i = 0; i < job->rounds; i++)
        job->what();
    return NULL;
}
static void threads(long limit_ms) {
    while (used_ms(CLOCK_PROCESS_CPUTIME_ID) < limit_ms) {
        pthread_t started[3];
        struct job jobs[3] = {{one, 2000}, {two, 2000}, {four, 2000}};
        for (int i = 0; i < 3; i++)
            pthread_create(&started[i], NULL, do_job, &jobs[i]);
        for (int i = 0; i < 3; i++)
            pthread_join(started[i], NULL);
    }
}

/* The same work each time; writes how long it took, in nanoseconds, to a file. */
static void timed(long rounds, const char* path) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long i = 0; i < rounds; i++)
        loops();
    clock_gettime(CLOCK_MONOTONIC, &end);
    FILE* told = fopen(path, "w");
    if (told == NULL)
        exit(2);
    fprintf(told, "%ld\n", (end.tv_sec - begin.tv_sec) * 1000000000L + end.tv_nsec - begin.tv_nsec);
    fclose(told);
}

int main(int count, char** words) {
    static const struct {
        const char* name;
        void (*what)(void);
    } programs[] = {{"loops", loops},   {"nested", outer},    {"recursive", recursion},
                    {"short", brevity}, {"library", library}, {"jit", just_in_time}};
    long limit_ms = count > 2 ? atol(words[2]) : 1000;
    if (count > 1 && strcmp(words[1], "threads") == 0)
        return threads(limit_ms), 0;
    if (count > 3 && strcmp(words[1], "timed") == 0)
        return timed(limit_ms, words[3]), 0;
    for (size_t i = 0; count > 1 && i < sizeof programs / sizeof *programs; i++) {
        if (strcmp(words[1], programs[i].name) != 0)
            continue;
        if (programs[i].what == just_in_time)
            compile();
        repeat(programs[i].what, limit_ms);
        return 0;
    }
    return 2;
}
