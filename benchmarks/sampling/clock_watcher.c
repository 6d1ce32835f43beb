// Looks at the clock, and nothing else, for so many milliseconds of its own: what it is interrupted
// for does not count. Writes how long that took, in nanoseconds. However fast the processor was
// meanwhile, a second of its own is a second.
//
//     clock_watcher MILLISECONDS FILE

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// Looks are some 20 ns apart; no interrupt takes less than this.
static const uint64_t interrupted_ns = 700;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int count, char** words) {
    if (count != 3)
        return 2;
    const uint64_t wanted_ns = strtoull(words[1], NULL, 10) * 1000000u;
    const uint64_t start_ns = now_ns();
    uint64_t own_ns = 0, last_ns = start_ns;
    while (own_ns < wanted_ns) {
        const uint64_t look_ns = now_ns();
        if (look_ns - last_ns < interrupted_ns)
            own_ns += look_ns - last_ns;
        last_ns = look_ns;
    }
    FILE* told = fopen(words[2], "w");
    if (told == NULL)
        return 1;
    fprintf(told, "%llu\n", (unsigned long long)(last_ns - start_ns));
    return fclose(told) == 0 ? 0 : 1;
}
