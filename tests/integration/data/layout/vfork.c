/* Children of vfork that run for a while in functions of the program, on the stack of their parent,
   whose return address glibc keeps in a register meanwhile. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile long sink;

static long now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

APART static long work(long left) {
    sink += left;
    return left == 0 ? 0 : work(left - 1) + sink % 2;
}

APART static void child(long time_us) {
    const long until = now_us() + time_us;
    while (now_us() < until)
        work(20);
    _exit(7);
}

APART static int parent(long time_us) {
    const pid_t process = vfork();
    if (process == 0)
        child(time_us);
    int status = 0;
    return waitpid(process, &status, 0) == process && WEXITSTATUS(status) == 7;
}

int main(int count, char** words) {
    const long children = count > 1 ? atol(words[1]) : 60;
    long good = 0;
    for (long at = 0; at < children; ++at)
        good += parent(5000) && work(50) >= 0;
    printf("%ld of %ld\n", good, children);
    return good != children;
}
