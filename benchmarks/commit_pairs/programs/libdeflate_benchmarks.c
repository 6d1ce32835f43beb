/* Benchmarks of libdeflate: one by its name. Only what `measured` does is counted. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libdeflate.h"
#include "made_text.h"

enum { SIZE = 100000, CAPACITY = 140000 };
static char source[SIZE], packed[CAPACITY], unpacked[SIZE];
static size_t packed_size;

static long compress(int level, size_t size) {
    struct libdeflate_compressor* compressor = libdeflate_alloc_compressor(level);
    size_t length = libdeflate_deflate_compress(compressor, source, size, packed, CAPACITY);
    libdeflate_free_compressor(compressor);
    return (long)length;
}

static long decompress(int rounds) {
    struct libdeflate_decompressor* decompressor = libdeflate_alloc_decompressor();
    size_t length = 0;
    long sum = 0;
    for (int round = 0; round < rounds; round++) {
        if (libdeflate_zlib_decompress(decompressor, packed, packed_size, unpacked, SIZE, &length))
            return -1;
        sum += (long)length;
    }
    libdeflate_free_decompressor(decompressor);
    return sum;
}

static long checksums(uint32_t (*sum_of)(uint32_t, const void*, size_t), uint32_t sum) {
    for (int round = 0; round < 50; round++)
        sum = sum_of(sum, source + round % 7, SIZE - 16 - round);
    return (long)(sum | 1);
}

__attribute__((noinline)) long measured(const char* name) {
    if (!strcmp(name, "level-1"))
        return compress(1, SIZE);
    if (!strcmp(name, "level-4"))
        return compress(4, SIZE);
    if (!strcmp(name, "level-6"))
        return compress(6, SIZE);
    if (!strcmp(name, "level-9"))
        return compress(9, SIZE);
    if (!strcmp(name, "level-12"))
        return compress(12, SIZE / 8);
    if (!strcmp(name, "small")) {
        long sum = 0;
        for (int round = 0; round < 20; round++)
            sum += compress(6, 500);
        return sum;
    }
    if (!strcmp(name, "decompress"))
        return decompress(10);
    if (!strcmp(name, "crc32"))
        return checksums(libdeflate_crc32, 0);
    if (!strcmp(name, "adler32"))
        return checksums(libdeflate_adler32, 1);
    return -1;
}

int main(int count, char** arguments) {
    if (count != 2)
        return 2;
    make_text(source, SIZE, 12345);
    struct libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
    packed_size = libdeflate_zlib_compress(compressor, source, SIZE, packed, CAPACITY);
    libdeflate_free_compressor(compressor);
    long result = measured(arguments[1]);
    printf("%ld\n", result);
    return result <= 0;
}
