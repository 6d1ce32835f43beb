// Counts the different words of a text that it makes up. The table of words grows by the same
// number of places each time, so that filling it moves every word again and again: the fault of the
// program that Mytkowicz (2010, section 3.5.3.1) mended. words.patch mends this one.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Functions that stay functions, so that profiles name them.
#define APART __attribute__((noinline))

typedef struct {
    uint64_t word;
    uint64_t count;
} Entry;

static Entry* table;
static size_t place_count = 1024, word_count;

static inline size_t hash(uint64_t word) {
    for (int turn = 0; turn < 4; turn++) {
        word ^= word >> 31;
        word *= 0x9e3779b97f4a7c15;
    }
    return word;
}

static Entry* place_of(Entry* entries, size_t count, uint64_t word) {
    size_t at = hash(word) % count;
    while (entries[at].count && entries[at].word != word)
        at = (at + 1) % count;
    return &entries[at];
}

APART static void grow(void) {
    size_t more = place_count + 32768;
    Entry* moved = calloc(more, sizeof *moved);
    for (size_t at = 0; at < place_count; at++)
        if (table[at].count)
            *place_of(moved, more, table[at].word) = table[at];
    free(table);
    table = moved;
    place_count = more;
}

APART static void count_word(uint64_t word) {
    if (2 * word_count > place_count)
        grow();
    Entry* found = place_of(table, place_count, word);
    if (!found->count++) {
        found->word = word;
        word_count++;
    }
}

APART static uint64_t next_word(uint64_t* state) {
    // Rare words are as many as frequent ones: an inverse power of a random number.
    *state = *state * 6364136223846793005 + 1442695040888963407;
    uint64_t draw = *state >> 33;
    uint64_t word = (UINT64_C(1) << 47) / (draw + 1);
    for (int turn = 0; turn < 20; turn++)
        word = word % 1000003 * 31 + word / 1000003;
    return word;
}

int main(int count, char** arguments) {
    uint64_t state = 1, read_count = count > 1 ? strtoull(arguments[1], NULL, 10) : 3000000;
    table = calloc(place_count, sizeof *table);
    while (read_count--)
        count_word(next_word(&state));
    printf("%zu different words\n", word_count);
    return 0;
}
