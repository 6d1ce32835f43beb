/* Benchmarks of the library of lz4: one by its name, on a text made from a fixed seed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

enum { SIZE = 60000, CAPACITY = 80000 };
static char source[SIZE], packed[CAPACITY], unpacked[SIZE];

static void make_text(void) {
    static const char* words[] = {"weigh", "the",  "program", "honestly", "and",
                                  "say",   "how",  "sure",    "it",       "is",
                                  "\n",    "0x7f", "lever",   "balance",  "of"};
    uint32_t state = 12345;
    size_t at = 0;
    while (at + 12 < SIZE) {
        state = state * 1664525u + 1013904223u;
        const char* word = words[(state >> 20) % 15];
        while (*word)
            source[at++] = *word++;
        source[at++] = (state >> 28) == 3 ? (char)('a' + (state >> 9) % 26) : ' ';
    }
}

static long run(const char* name) {
    long sum = 0;
    if (!strcmp(name, "fast"))
        return LZ4_compress_default(source, packed, SIZE, CAPACITY);
    if (!strcmp(name, "accelerated")) {
        for (int round = 0; round < 4; round++)
            sum += LZ4_compress_fast(source, packed, SIZE, CAPACITY, 9);
        return sum;
    }
    if (!strcmp(name, "high"))
        return LZ4_compress_HC(source, packed, SIZE / 4, CAPACITY, 4);
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
        int size = LZ4_compress_default(source, packed, SIZE, CAPACITY);
        for (int round = 0; round < 10; round++)
            sum += LZ4_decompress_safe(packed, unpacked, size, SIZE);
        return sum;
    }
    return -1;
}

int main(int count, char** arguments) {
    if (count != 2)
        return 2;
    make_text();
    long result = run(arguments[1]);
    printf("%ld\n", result);
    return result <= 0;
}
