/* Waits for less than a second by each of three calls, longer than the layout stays: on the stack
 * of a signal's handler, and in a thread that runs on a stack of its own. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { stack_bytes = 256 << 10, milliseconds = 300, depth = 40 };

static int waits;

__attribute__((noinline)) static int wait_deep(int left) {
    volatile int kept = left;
    if (left == 0) {
        const struct timespec time = {0, milliseconds * 1000000L};
        struct epoll_event event;
        const int events = epoll_create1(0);
        nanosleep(&time, NULL);
        poll(NULL, 0, milliseconds);
        epoll_wait(events, &event, 1, milliseconds);
        close(events);
        return 3;
    }
    return wait_deep(left - 1) + (kept == left ? 0 : 1);
}

static void handle(int number) {
    (void)number;
    waits += wait_deep(depth);
}

static __thread ucontext_t here, there;

static void body(void) {
    waits += wait_deep(depth);
}

static void* run(void* unused) {
    getcontext(&there);
    there.uc_stack.ss_sp = malloc(stack_bytes);
    there.uc_stack.ss_size = stack_bytes;
    there.uc_link = &here;
    makecontext(&there, body, 0);
    swapcontext(&here, &there);
    return unused;
}

int main(void) {
    const stack_t other = {.ss_sp = malloc(stack_bytes), .ss_size = stack_bytes};
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    pthread_t thread;
    sigaltstack(&other, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    run(NULL);
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    printf("%d\n", waits);
    return 0;
}
