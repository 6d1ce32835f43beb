/* A filter that keeps its last outputs in a ring on the stack.

   The elements of the ring lie 8 bytes off the 16 that they are wide, so that where the ring lies
   across the end of a page, one store in each round writes to two pages, which takes many times as
   long as any other. Whether that is so is decided by the address at which the stack starts, and by
   nothing in the program. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { RING = 16 };
typedef double pair __attribute__((vector_size(16), aligned(8)));

struct filter {
    int64_t rounds;
    volatile pair ring[RING];
};

static double run(struct filter* filter, int64_t rounds) {
    pair state = {1.0, 0.5};
    for (filter->rounds = 0; filter->rounds < rounds; filter->rounds++) {
        state = state * 0.999 + 0.001;
        for (int place = 0; place < RING; place++)
            filter->ring[place] = state;
    }
    return filter->ring[0][0];
}

int main(int count, char** words) {
    struct filter filter;
    double last = run(&filter, count > 1 ? atoll(words[1]) : 10000000);
    printf("output %.6f offset %lu\n", last, (unsigned long)((uintptr_t)filter.ring % 4096));
}
