/* Writes the iterations of a program for `steelyard measure --iterations json-lines`.
 *
 *     const int count = steelyard_iteration_count(100);
 *     for (int i = 0; i < count; ++i) {
 *         const double start_s = steelyard_now();
 *         work();
 *         steelyard_iteration(steelyard_now() - start_s);
 *     }
 *
 * C99 or C++, nothing to link. Where STEELYARD_ITERATIONS is not set, as when the program is run
 * by itself, nothing is written. Each line is written at once and outside of what was timed.
 */
#ifndef STEELYARD_H
#define STEELYARD_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The file that the environment names, or NULL. */
static inline FILE* steelyard_file(void) {
    static FILE* file = NULL;
    static int opened = 0;
    const char* path = getenv("STEELYARD_ITERATIONS");
    if (!opened && path != NULL && path[0] != '\0') {
        file = fopen(path, "a");
        if (file == NULL)
            perror(path);
        else
            setvbuf(file, NULL, _IOLBF, BUFSIZ);
        opened = 1; /* last: a thread that comes meanwhile opens it too and loses nothing */
    }
    return file;
}

/* The texts are taken as they are: letters, digits, '_', '/' and '.'. */
static inline void steelyard_line(const char* metric, const char* unit, const char* direction,
                                  double value, int warmup) {
    FILE* file = steelyard_file();
    char number[64];
    const char* text = number;
    char* comma;
    if (file == NULL)
        return;
    snprintf(number, sizeof number, "%.17g", value);
    comma = strchr(number, ','); /* of a program that has set its locale */
    if (comma != NULL)
        *comma = '.';
    if (strchr(number, 'n') != NULL) /* nan and inf, which Python's JSON spells otherwise */
        text = strchr(number, 'f') == NULL ? "NaN" : number[0] == '-' ? "-Infinity" : "Infinity";
    /* One call, so that lines of several threads do not mix. */
    if (fprintf(file,
                "{\"metric\": \"%s\", \"unit\": \"%s\", \"direction\": \"%s\", "
                "\"value\": %s, \"warmup\": %s}\n",
                metric, unit, direction, text, warmup ? "true" : "false") < 0)
        perror("STEELYARD_ITERATIONS cannot be written");
}

/* One value of a metric of which less is better, such as ("latency", "s", 0.002, 0). */
static inline void steelyard_value(const char* metric, const char* unit, double value, int warmup) {
    steelyard_line(metric, unit, "lower", value, warmup);
}

/* One value of a metric of which more is better, such as ("requests", "1/s", 2000.0, 0). */
static inline void steelyard_rate(const char* metric, const char* unit, double value, int warmup) {
    steelyard_line(metric, unit, "higher", value, warmup);
}

/* The time of one iteration. */
static inline void steelyard_iteration(double seconds) {
    steelyard_value("iteration_time", "s", seconds, 0);
}

/* The time of an iteration that belongs to the warm-up. All of them come first. */
static inline void steelyard_warmup(double seconds) {
    steelyard_value("iteration_time", "s", seconds, 1);
}

/* How many iterations are wanted, with those of the warm-up; `otherwise` where nobody says. */
static inline int steelyard_iteration_count(int otherwise) {
    const char* wanted = getenv("STEELYARD_ITERATION_COUNT");
    const int count = wanted == NULL ? 0 : atoi(wanted);
    return count > 0 ? count : otherwise;
}

/* Seconds on a clock that only goes forward. */
#ifdef CLOCK_MONOTONIC
static inline double steelyard_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
#elif LONG_MAX > 2147483647L
/* Strict ISO C (-std=c99, -std=c11) hides the clock of POSIX, which the library has all the same:
 * clock 1 of Linux, in two words of 64 bits. */
extern int steelyard_clock(int clock, long* now) __asm__("clock_gettime");
static inline double steelyard_now(void) {
    long now[2] = {0, 0};
    steelyard_clock(1, now);
    return (double)now[0] + (double)now[1] * 1e-9;
}
#endif

#endif
