/* A signal that is handled on another stack, by functions of the program that take longer than a
   layout lasts, while what it interrupted waits below in old copies. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#define APART __attribute__((noinline))

enum { stack_bytes = 256 << 10 };
static volatile long sink;
static volatile sig_atomic_t handled;

static long now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

APART static long work(long left) {
    sink += left;
    return left == 0 ? 0 : work(left - 1) + sink % 2;
}

APART static void for_a_while(long time_us) {
    const long until = now_us() + time_us;
    while (now_us() < until)
        work(20);
}

static void handle(int signal) {
    (void)signal;
    for_a_while(5000);
    ++handled;
}

APART static long interrupted(long left) {
    for_a_while(500);
    return left == 0 ? 1 : interrupted(left - 1) + (sink < 0);
}

int main(int count, char** words) {
    const long wanted = count > 1 ? atol(words[1]) : 40;
    stack_t stack = {.ss_sp = malloc(stack_bytes), .ss_size = stack_bytes};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigaltstack(&stack, NULL);
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval often = {{0, 10000}, {0, 10000}};
    setitimer(ITIMER_REAL, &often, NULL);
    long rounds = 0;
    while (handled < wanted)
        rounds += interrupted(10);
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%d\n", rounds > 0);
    return 0;
}
