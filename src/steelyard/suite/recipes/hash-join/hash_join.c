/* Joins two tables by a hash table, again and again.
 *
 *     hash_join INPUT ROWS ITERATIONS
 *
 * The rows of both tables are drawn from the input. An iteration builds a hash table of the smaller
 * one, probes it with each row of the larger one and adds up the matches by group, as well as the
 * rows without one. Standard output
 * has the checksum of the groups, which is the same for every iteration and any number of them.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>

#include "program.h"
#include "steelyard.h"

enum { PROBES_A_ROW = 4, GROUPS = 256, KEY_BYTES = 8 };

struct row {
    uint32_t key;
    uint32_t value;
    struct row* next;
};

struct table {
    struct row* rows;
    size_t count;
};

/* Row by row from the input, which is begun again at its end. */
static struct table make_table(struct bytes input, size_t start, size_t count) {
    struct table table = {allocate(count * sizeof *table.rows), count};
    size_t place = start;
    for (size_t i = 0; i < count; ++i) {
        uint32_t key = 0;
        for (int byte = 0; byte < KEY_BYTES; ++byte)
            key = key * 33 + input.data[place++ % input.size];
        table.rows[i].key = key % (uint32_t)(count * 2);
        table.rows[i].value = input.data[place++ % input.size];
    }
    return table;
}

static size_t bucket(uint32_t key, size_t bucket_count) {
    return (size_t)(key * UINT32_C(2654435761)) & (bucket_count - 1);
}

static size_t bucket_count_for(size_t rows) {
    size_t count = 1;
    while (count < rows)
        count *= 2;
    return count;
}

static uint64_t join(struct table small, struct table large, struct row** buckets,
                     size_t bucket_count) {
    uint64_t groups[GROUPS] = {0};
    uint64_t sum = CHECKSUM_START;
    memset(buckets, 0, bucket_count * sizeof *buckets);
    for (size_t i = 0; i < small.count; ++i) {
        struct row** first = &buckets[bucket(small.rows[i].key, bucket_count)];
        small.rows[i].next = *first;
        *first = &small.rows[i];
    }
    for (size_t i = 0; i < large.count; ++i) {
        const struct row* probe = &large.rows[i];
        const struct row* match = buckets[bucket(probe->key, bucket_count)];
        uint64_t matches = 0;
        for (; match != NULL; match = match->next) {
            if (match->key == probe->key) {
                groups[match->value % GROUPS] += probe->value + 1;
                ++matches;
            }
        }
        if (matches == 0)
            groups[(probe->key + probe->value) % GROUPS] += 1;
    }
    for (int group = 0; group < GROUPS; ++group)
        sum = checksum_add(sum, groups[group]);
    return sum;
}

int main(int argc, char** argv) {
    if (argc != 4) {
        fprintf(stderr, "Usage: hash_join INPUT ROWS ITERATIONS\n");
        return 2;
    }
    const struct bytes input = read_input(argv[1]);
    const size_t rows = whole_number("ROWS", argv[2], 1);
    const unsigned long iterations = iteration_count(argv[3]);
    const struct table small = make_table(input, 0, rows);
    const struct table large = make_table(input, input.size / 2, rows * PROBES_A_ROW);
    const size_t bucket_count = bucket_count_for(rows);
    struct row** buckets = allocate(bucket_count * sizeof *buckets);
    uint64_t expected = 0;
    for (unsigned long i = 0; i < iterations; ++i) {
        const double start_s = steelyard_now();
        const uint64_t sum = join(small, large, buckets, bucket_count);
        steelyard_iteration(steelyard_now() - start_s);
        if (i > 0 && sum != expected) {
            fprintf(stderr, "iteration %lu differs from the first one\n", i);
            return 1;
        }
        expected = sum;
    }
    printf("hash-join %016" PRIx64 "\n", expected);
    return 0;
}
