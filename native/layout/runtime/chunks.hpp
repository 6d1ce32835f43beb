// The memory of small objects: chunks of address space that belong to one size class each, and
// what is free in them and no thread's.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "memory_map.hpp"
#include "random.hpp"
#include "size_classes.hpp"

namespace steelyard::layout {

// A class grows by windows of this size, which hold each value of the index bits of the caches
// equally often: with other numbers of objects their addresses fail the tests of NIST SP 800-22.
constexpr std::size_t window_bytes = 256U << 10U;
constexpr std::size_t fewest_objects = 16;
constexpr std::size_t unit_bytes = 16U << 10U;  // what belongs to one class
constexpr std::size_t chunk_step_bytes = 64U << 10U;

constexpr std::size_t window_objects(std::size_t index) {
    const std::size_t objects = window_bytes / class_bytes(index);
    return objects < fewest_objects ? fewest_objects : objects;
}

/// How the objects of a class lie in a chunk. Where their size is a multiple of two cache lines,
/// the lowest index bits of all of them would be the same; so an odd number of lines is left free
/// after each run of them, one to four hundredths of the memory. Runs are no power of two long, as
/// the lowest bits would otherwise follow from higher ones. Objects of just two lines stay in step:
/// processors fetch such pairs together, and a program that walks along many would wait for two.
struct Spacing {
    std::uint32_t run_objects;
    std::size_t gap_bytes;
};

constexpr std::size_t run_bytes = 5U << 10U;
constexpr std::size_t gap_for_bytes = 4U << 10U;  // of larger objects, a line for so much of each

constexpr Spacing spacing(std::size_t index) {
    const std::size_t bytes = class_bytes(index);
    constexpr std::size_t pair_bytes = 2 * cache_line_bytes;
    const bool is_even = index < plain_classes && bytes > pair_bytes && bytes % pair_bytes == 0;
    return {static_cast<std::uint32_t>(bytes < run_bytes ? run_bytes / bytes : 1),
            is_even ? (bytes / gap_for_bytes | 1U) * cache_line_bytes : 0};
}

constexpr std::size_t objects_in(std::size_t index, std::size_t bytes) {
    const auto [run_objects, gap_bytes] = spacing(index);
    const std::size_t run = run_objects * class_bytes(index) + gap_bytes;
    const std::size_t rest = bytes % run / class_bytes(index);
    return bytes / run * run_objects + (rest < run_objects ? rest : run_objects);
}

constexpr std::size_t chunk_bytes(std::size_t index) {
    std::size_t bytes = window_bytes;
    while (objects_in(index, bytes) < fewest_objects)
        bytes += unit_bytes;
    return bytes;
}

constexpr std::size_t largest_chunk_bytes() {
    std::size_t largest = 0;
    for (std::size_t index = 0; index < class_count; ++index)
        largest = chunk_bytes(index) > largest ? chunk_bytes(index) : largest;
    return largest;
}

// What a class gives in a thread before it has a window: most classes of most programs never need
// one, and 49 windows would be 14 MiB. Of the largest objects there are fewer, as each of them is
// touched sooner or later.
constexpr std::size_t fewest_first_objects = 16, fewest_first_large = 8;
constexpr std::size_t large_from_bytes = 4U << 10U;

constexpr std::size_t first_chunk_bytes(std::size_t index) {
    const bool is_large = class_bytes(index) >= large_from_bytes;
    std::size_t bytes = unit_bytes;
    while (objects_in(index, bytes) < (is_large ? fewest_first_large : fewest_first_objects))
        bytes += unit_bytes;
    return bytes;
}

constexpr std::uint32_t first_objects(std::size_t index) {
    return static_cast<std::uint32_t>(objects_in(index, first_chunk_bytes(index)));
}

/// What lies in first chunks is of a class of its own, so that it does not mix with a window, which
/// has each value of the index bits equally often.
constexpr std::size_t first_class(std::size_t index) {
    return class_count + index;
}

constexpr std::size_t all_classes = 2 * class_count;

constexpr auto chunk_object_counts = [] {
    std::array<std::uint32_t, class_count> counts{};
    for (std::size_t index = 0; index < class_count; ++index)
        counts[index] = static_cast<std::uint32_t>(objects_in(index, chunk_bytes(index)));
    return counts;
}();

constexpr std::uint32_t chunk_objects(std::size_t index) {
    return chunk_object_counts[index];
}

/// Objects are named by their distance from the start of the heap in granules, so that 32 bits do.
using Name = std::uint32_t;

extern constinit __attribute__((visibility("hidden"))) std::uint8_t* heap_start;
extern constinit __attribute__((visibility("hidden"))) std::size_t heap_bytes;
extern constinit __attribute__((visibility("hidden"))) std::uint8_t* unit_classes;

inline std::uint8_t* object_of(Name name) {
    return heap_start + static_cast<std::size_t>(name) * granule_bytes;
}

inline std::size_t distance_of(const void* object) {
    return static_cast<std::size_t>(static_cast<const std::uint8_t*>(object) - heap_start);
}

inline Name name_of(const void* object) {
    return static_cast<Name>(distance_of(object) / granule_bytes);
}

inline bool is_small(const void* object) {
    return distance_of(object) < heap_bytes;
}

/// Its class, or that of first chunks.
inline std::size_t class_of(const void* object) {
    return unit_classes[distance_of(object) / unit_bytes];
}

inline std::size_t bytes_of(const void* object) {
    return class_bytes(class_of(object) % class_count);
}

/// Takes the address space; false where there is none.
bool reserve_chunks();
/// Memory for what is noted about objects, zero and for ever; null where there is none.
void* take_books(std::size_t bytes);
/// Gives address space back that nothing has taken, so that the heap has no more than its share of
/// a limit.
void give_unused_back(std::uint64_t limit_bytes);
/// What of the address space no chunk has taken yet.
Region unused_heap();
/// A chunk for a class, which is whole windows; its first object. False where none is left.
bool take_chunk(std::size_t index, Name& first);
/// A first chunk at a random place, where there is one; its first object.
bool take_first_chunk(std::size_t index, Random& random, Name& first);
/// The first object of the chunk that `name` lies in.
Name chunk_start(Name name);
/// Gives free objects of a class, or of its first chunks, to all threads.
void give_free(std::size_t index, const Name* from, std::size_t many);
/// Takes those of the one chunk that has most of them, how many those are; 0 where none has an
/// eighth of a window, which `many` is.
std::size_t take_window(std::size_t index, Name* into, std::size_t many);
/// Takes up to so many of them, how many there were: of one chunk where it has half as many, else
/// of some.
std::size_t take_free(std::size_t index, Name* into, std::size_t many);

/// Around a fork, so that the child finds no lock taken.
void hold_chunks();
void resume_chunks();
void reset_chunks();

}  // namespace steelyard::layout
