/* Benchmarks of the library of lz4: one by its name. Only what `measured` does is counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_text.h"

int LZ4_compress_default(const char* source, char* target, int size, int capacity);
int LZ4_compress_fast(const char* source, char* target, int size, int capacity, int speed);
int LZ4_decompress_safe(const char* source, char* target, int size, int capacity);
int LZ4_compress_HC(const char* source, char* target, int size, int capacity, int level);
void* LZ4_createStream(void);
int LZ4_freeStream(void* stream);
int LZ4_compress_fast_continue(void* stream, const char* source, char* target, int size,
                               int capacity, int speed);
size_t LZ4F_compressFrame(void* target, size_t capacity, const void* source, size_t size,
                          const void* preferences);

enum { SIZE = 240000, CAPACITY = 320000 };
static char source[SIZE], packed[CAPACITY], unpacked[SIZE];
static int packed_size;

__attribute__((noinline)) long measured(const char* name) {
    long sum = 0;
    if (!strcmp(name, "fast"))
        return LZ4_compress_default(source, packed, SIZE, CAPACITY);
    if (!strcmp(name, "accelerated")) {
        for (int round = 0; round < 4; round++)
            sum += LZ4_compress_fast(source, packed, SIZE, CAPACITY, 9);
        return sum;
    }
    if (!strcmp(name, "high"))
        return LZ4_compress_HC(source, packed, SIZE / 8, CAPACITY, 4);
    if (!strcmp(name, "highest"))
        return LZ4_compress_HC(source, packed, SIZE / 32, CAPACITY, 11);
    if (!strcmp(name, "frame"))
        return (long)LZ4F_compressFrame(packed, CAPACITY, source, SIZE, NULL);
    if (!strcmp(name, "stream")) {
        void* stream = LZ4_createStream();
        for (int at = 0; at + 1000 <= SIZE; at += 1000)
            sum += LZ4_compress_fast_continue(stream, source + at, packed, 1000, CAPACITY, 1);
        LZ4_freeStream(stream);
        return sum;
    }
    if (!strcmp(name, "decompress")) {
        for (int round = 0; round < 5; round++)
            sum += LZ4_decompress_safe(packed, unpacked, packed_size, SIZE);
        return sum;
    }
    return -1;
}

int main(int count, char** arguments) {
    if (count != 2)
        return 2;
    make_text(source, SIZE, 12345);
    packed_size = LZ4_compress_default(source, packed, SIZE, CAPACITY);
    long result = measured(arguments[1]);
    printf("%ld\n", result);
    return result <= 0;
}
