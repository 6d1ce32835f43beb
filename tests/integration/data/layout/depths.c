/* Recursion of several kinds, far deeper than pads fit on a stack: through functions of which only
   one looks how deep it is, through pointers, through the C library, through addresses of labels.
   At its start it says where the frames of a chain of functions lie. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

enum { depth = 40000 };
static volatile long sink;
static long by_turns(long left, char* above);

APART static void look(const char* frame) {
    sink += frame[0];
}

APART static long third(long left, char* above) {
    char own[16] = {1};
    if (left == depth)
        printf("%ld\n", (long)(above - own));
    look(own);
    return by_turns(left - 1, own) + own[0];
}

APART static long second(long left, char* above) {
    char own[16] = {1};
    if (left == depth)
        printf("%ld\n", (long)(above - own));
    look(own);
    return third(left, own) + own[0];
}

APART static long by_turns(long left, char* above) {
    char own[16] = {1};
    look(own);
    look(above);
    return left == 0 ? 0 : second(left, own) + own[0];
}

static long by_pointer(long left);
static long (*volatile pointer)(long) = by_pointer;

APART static long by_pointer(long left) {
    char own[16] = {1};
    look(own);
    return left == 0 ? 0 : pointer(left - 1) + own[0];
}

static long left_to_compare;

APART static int compare(const void* one, const void* other) {
    char own[16] = {1};
    look(own);
    (void)other;
    if (left_to_compare-- > 0)
        bsearch(one, one, 1, 1, compare);
    return own[0] - 1;
}

APART static long by_label(long left) {
    static const void* const labels[] = {&&stop, &&again};
    char own[16] = {1};
    look(own);
    goto* labels[left != 0];
again:
    return by_label(left - 1) + own[0];
stop:
    return 0;
}

int main(void) {
    char own[16] = {1};
    const long turns = by_turns(depth, own);
    const long pointers = by_pointer(depth);
    left_to_compare = depth;
    bsearch(own, own, 1, 1, compare);
    printf("%ld %ld %ld %ld\n", turns, pointers, left_to_compare, by_label(depth));
    return 0;
}
