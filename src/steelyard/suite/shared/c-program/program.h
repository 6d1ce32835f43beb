/* What the suite's own programs share: the input, the number of iterations, checksums, choices.
 * C11, POSIX. Each program includes it once. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    unsigned char* data;
    size_t size;
};

/* Ends the program with status 2, as for a wrong call or a system that refuses. */
_Noreturn static inline void fail(const char* what) {
    if (errno != 0)
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
    else
        fprintf(stderr, "%s\n", what);
    exit(2);
}

static inline void* allocate(size_t size) {
    void* memory = malloc(size > 0 ? size : 1);
    if (memory == NULL)
        fail("no memory");
    return memory;
}

/* A whole number from `least` on; anything else ends the program. */
static inline unsigned long whole_number(const char* name, const char* text, unsigned long least) {
    char* end;
    unsigned long value;
    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || value < least) {
        fprintf(stderr, "%s must be a whole number from %lu on, not '%s'\n", name, least, text);
        exit(2);
    }
    return value;
}

/* How often to repeat: what Steelyard asks for, or else the program's own argument. */
static inline unsigned long iteration_count(const char* argument) {
    const char* asked = getenv("STEELYARD_ITERATION_COUNT");
    if (asked != NULL && asked[0] != '\0')
        return whole_number("STEELYARD_ITERATION_COUNT", asked, 1);
    return whole_number("ITERATIONS", argument, 1);
}

static inline struct bytes read_input(const char* path) {
    struct bytes input = {NULL, 0};
    long size;
    FILE* file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0)
        fail(path);
    rewind(file);
    input.size = (size_t)size;
    input.data = allocate(input.size);
    if (fread(input.data, 1, input.size, file) != input.size)
        fail(path);
    fclose(file);
    if (input.size == 0) {
        errno = 0;
        fail("the input is empty");
    }
    return input;
}

#define CHECKSUM_START 0xcbf29ce484222325ULL

/* FNV-1a with an additional shift, so that high bits reach low ones. */
static inline uint64_t checksum_add(uint64_t sum, uint64_t value) {
    sum = (sum ^ value) * 0x100000001b3ULL;
    return sum ^ (sum >> 29);
}

static inline uint64_t checksum_bytes(uint64_t sum, const unsigned char* data, size_t size) {
    size_t i;
    for (i = 0; i < size; ++i)
        sum = checksum_add(sum, data[i]);
    return sum;
}

/* The next of a sequence of choices below `limit` (SplitMix64). */
static inline uint64_t next_below(uint64_t* state, uint64_t limit) {
    uint64_t mixed = (*state += 0x9e3779b97f4a7c15ULL);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return (mixed ^ (mixed >> 31)) % limit;
}

#endif
