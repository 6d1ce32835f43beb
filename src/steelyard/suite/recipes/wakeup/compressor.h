/* A small compressor: the last place of each three bytes is remembered, and what was there before
 * is written as a distance and a length. Its only purpose is to compute. */
#ifndef COMPRESSOR_H
#define COMPRESSOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    COMPRESSOR_SLOTS = 4096,
    COMPRESSOR_SHORTEST = 3,
    COMPRESSOR_LONGEST = 255,
    COMPRESSOR_FARTHEST = 65535
};

static inline size_t compressor_slot(const unsigned char* at) {
    const uint32_t three = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
    return (size_t)(three * UINT32_C(2654435761) >> 20);
}

/* Compresses `size` bytes into `packed`, which has room for twice as many, and gives how many it
 * took. */
static inline size_t compress_block(const unsigned char* data, size_t size, unsigned char* packed) {
    uint32_t last[COMPRESSOR_SLOTS];
    size_t place = 0;
    size_t written = 0;
    memset(last, 0xff, sizeof last);
    while (place < size) {
        size_t length = 0;
        if (place + COMPRESSOR_SHORTEST <= size) {
            const size_t slot = compressor_slot(data + place);
            const size_t before = last[slot];
            last[slot] = (uint32_t)place;
            if (before < place && place - before <= COMPRESSOR_FARTHEST) {
                while (place + length < size && length < COMPRESSOR_LONGEST &&
                       data[before + length] == data[place + length])
                    ++length;
            }
            if (length >= COMPRESSOR_SHORTEST) {
                packed[written++] = (unsigned char)length;
                packed[written++] = (unsigned char)((place - before) & 0xff);
                packed[written++] = (unsigned char)((place - before) >> 8);
                place += length;
                continue;
            }
        }
        packed[written++] = 0;
        packed[written++] = data[place++];
    }
    return written;
}

#endif
