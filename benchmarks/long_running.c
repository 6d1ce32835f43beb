/* Code that is entered once and runs for long: does what it calls move?
 *
 *     long_running loop SECONDS         one loop in main
 *     long_running recursion SECONDS    one descent of a static function, as deep as the time takes
 *
 * Prints how many layouts it saw: how often what it calls was elsewhere than the last time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { deepest = 50000 };

static double until_s;
static const void* last;
static long seen;

static double now_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

__attribute__((noinline)) static const void* here(void) {
    const void* place = __builtin_return_address(0);
    __asm__ volatile("" ::: "memory");
    return place;
}

__attribute__((noinline)) static void look(void) {
    const void* place = here();
    seen += place != last;
    last = place;
}

/* Each frame waits a little, so that the descent takes as long as the loop. */
__attribute__((noinline)) static long descend(long depth, double step_s) {
    const double next_s = now_s() + step_s;
    while (now_s() < next_s)
        ;
    look();
    long below = depth < deepest && now_s() < until_s ? descend(depth + 1, step_s) : 0;
    __asm__ volatile("" : "+r"(below));
    return below + 1;
}

int main(int argc, char** argv) {
    if (argc != 3)
        return 2;
    const double time_s = strtod(argv[2], 0);
    until_s = now_s() + time_s;
    long depth = 0;
    if (strcmp(argv[1], "recursion") == 0) {
        depth = descend(0, time_s / deepest);
    } else {
        while (now_s() < until_s)
            look();
    }
    printf("{\"seen\": %ld, \"depth\": %ld}\n", seen, depth);
    return 0;
}
