/* Writes addresses as 64-bit words: of heap objects, of functions, or of stack frames. Calls:
 *
 * - addresses heap SIZE LIVE COUNT: free the oldest of LIVE objects, allocate another, COUNT times
 *   after as many times as make the heap forget its beginning
 * - addresses grow SIZE 0 COUNT: allocate COUNT objects and free none
 * - addresses mixed 0 LIVE COUNT: as heap, with sizes 16, 32, ... 1024 in turn
 * - addresses mixed 1 LIVE COUNT: the same with 12 sizes of 16 to 448, none a multiple of 128
 * - addresses code 0 MOVES COUNT: where one of 64 functions is, in turn, at each new layout
 * - addresses stack 0 MOVES COUNT: where what each of 64 functions calls has its frame, likewise
 *
 * MOVES is 1 where layouts change, and 0 where they do not and none is waited for. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    function_count = 64,
    most_live = 1 << 20,
    most_free = 1 << 14, /* of a size, in the heap's sets: 256 KiB of 16 bytes */
    smallest_step = 16,
    largest = 1024
};

static void *called_from, *frame;

__attribute__((noinline)) static void probe(void) {
    called_from = __builtin_return_address(0);
    frame = __builtin_frame_address(0);
    __asm__ volatile("" ::: "memory");
}

#define FUNCTION(n)                                    \
    __attribute__((noinline)) static void f##n(void) { \
        probe();                                       \
        __asm__ volatile("" ::: "memory");             \
    }
#define EIGHT(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7)
#define ALL(M) \
    EIGHT(M, 0) EIGHT(M, 1) EIGHT(M, 2) EIGHT(M, 3) EIGHT(M, 4) EIGHT(M, 5) EIGHT(M, 6) EIGHT(M, 7)
#define NAME(n) f##n,
ALL(FUNCTION)
static void (*const functions[function_count])(void) = {ALL(NAME)};

static void* objects[most_live];
/* Sizes of classes that are no multiples of 128. */
static const size_t unaligned[] = {16, 32, 48, 64, 80, 96, 112, 160, 192, 224, 320, 448};

static void allocate(uint64_t* out, size_t size, size_t live, size_t count, int keep) {
    const size_t before = keep ? 0 : 10 * (live + most_free);
    const size_t sizes = size == 0 ? largest / smallest_step : sizeof unaligned / sizeof *unaligned;
    size_t turn = 0;
    for (size_t i = 0; i < before + count; ++i) {
        void** place = &objects[keep ? 0 : i % live];
        size_t bytes = size;
        if (size == 0)
            bytes = smallest_step + smallest_step * turn;
        else if (size == 1)
            bytes = unaligned[turn];
        turn = (turn + 1) % sizes;
        if (!keep)
            free(*place);
        *place = malloc(bytes);
        memset(*place, 1, bytes);
        if (i >= before)
            out[i - before] = (uint64_t)*place;
    }
}

/* The next layout is there when the first function is elsewhere. */
static void wait_for_move(void) {
    functions[0]();
    const void* last = called_from;
    while (called_from == last)
        functions[0]();
}

static void look(uint64_t* out, int stack, int moves, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        if (moves && (!stack || i % function_count == 0))
            wait_for_move();
        functions[i % function_count]();
        out[i] = (uint64_t)(stack ? frame : called_from);
    }
}

int main(int argc, char** argv) {
    if (argc != 5)
        return 2;
    const size_t size = strtoul(argv[2], 0, 10), number = strtoul(argv[3], 0, 10);
    const size_t count = strtoul(argv[4], 0, 10);
    uint64_t* out = malloc(count * sizeof *out);
    if (!out || number > most_live)
        return 2;
    if (strcmp(argv[1], "code") == 0 || strcmp(argv[1], "stack") == 0)
        look(out, argv[1][0] == 's', number != 0, count);
    else
        allocate(out, size, number, count, strcmp(argv[1], "grow") == 0);
    return fwrite(out, sizeof *out, count, stdout) == count ? 0 : 1;
}
