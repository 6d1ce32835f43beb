/* A text made from a fixed seed. */
#pragma once
#include <stddef.h>
#include <stdint.h>

static size_t make_text(char* target, size_t size, uint32_t state) {
    static const char* words[] = {"weigh", "the",  "program", "honestly", "and",
                                  "say",   "how",  "sure",    "it",       "is",
                                  "\n",    "0x7f", "lever",   "balance",  "of"};
    size_t at = 0;
    while (at + 12 < size) {
        state = state * 1664525u + 1013904223u;
        const char* word = words[(state >> 20) % 15];
        while (*word)
            target[at++] = *word++;
        target[at++] = (state >> 28) == 3 ? (char)('a' + (state >> 9) % 26) : ' ';
    }
    return at;
}
