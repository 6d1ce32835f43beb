/* Deep recursion in threads that glibc starts without pthread_create: C11's, and that of a timer.
 */
#define _GNU_SOURCE
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

#define APART __attribute__((noinline))

enum { depth = 30000 };
static volatile long sink;
static sem_t done;

APART static void look(const char* frame) {
    sink += frame[0];
}

APART static long deep(long left, const char* above) {
    char own[16] = {1};
    look(own);
    return left == 0 ? 0 : deep(left - 1, own) + above[0];
}

static int in_thread(void* unused) {
    (void)unused;
    return deep(depth, "\1") == depth;
}

static void in_timer(union sigval unused) {
    (void)unused;
    printf("timer %ld\n", deep(depth, "\1"));
    sem_post(&done);
}

int main(void) {
    thrd_t thread;
    int good = 0;
    if (thrd_create(&thread, in_thread, NULL) != thrd_success ||
        thrd_join(thread, &good) != thrd_success)
        return 2;
    printf("thread %d\n", good);
    sem_init(&done, 0, 0);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = in_timer};
    timer_t timer;
    const struct itimerspec soon = {{0, 0}, {0, 1000000}};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &soon, NULL) != 0)
        return 3;
    sem_wait(&done);
    return 0;
}
