// The sizes that small objects of the heap are rounded up to, and which class holds a size or an
// alignment.

#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard::layout {

/// Sizes of small objects: every 16 bytes up to 128, then four to a doubling, so that rounding up
/// wastes a tenth on the mean, where powers of two would waste a quarter.
constexpr std::size_t granule_bytes = 16;
constexpr std::size_t linear_limit_bytes = 128;
constexpr std::size_t linear_classes = linear_limit_bytes / granule_bytes;
constexpr std::size_t classes_a_doubling = 4;
constexpr std::size_t largest_small_bytes = 32U << 10U;
constexpr std::size_t regular_classes = linear_classes + 8 * classes_a_doubling;

/// Behind those, one for a page with what a program notes about it, as databases and caches of
/// files allocate them: the next class above 4 KiB would waste a sixth.
constexpr std::size_t page_class = regular_classes;
constexpr std::size_t page_class_above_bytes = 4096, page_class_bytes = 4608;
constexpr std::size_t plain_classes = regular_classes + 1;

/// Then one for each power of two above a cache line, whose objects lie on multiples of
/// their size. Up to a cache line those of every power of two do.
constexpr std::size_t cache_line_bytes = 64;
constexpr std::size_t aligned_classes = 9;
constexpr std::size_t class_count = plain_classes + aligned_classes;

constexpr std::size_t class_bytes(std::size_t index) {
    if (index >= plain_classes)
        return (2 * cache_line_bytes) << (index - plain_classes);
    if (index == page_class)
        return page_class_bytes;
    if (index < linear_classes)
        return (index + 1) * granule_bytes;
    const std::size_t beyond = index - linear_classes;
    const std::size_t doubling = linear_limit_bytes << (beyond / classes_a_doubling);
    return doubling + doubling / classes_a_doubling * (beyond % classes_a_doubling + 1);
}

/// The smallest class that holds `size` bytes; `size` is at most `largest_small_bytes`.
inline std::size_t class_for(std::size_t size) {
    if (size <= linear_limit_bytes)
        return size == 0 ? 0 : (size - 1) / granule_bytes;
    if (size - page_class_above_bytes - 1 < page_class_bytes - page_class_above_bytes)
        return page_class;
    const std::size_t last = size - 1;
    const auto top = static_cast<std::size_t>(63 - __builtin_clzll(last));
    const std::size_t quarter = (last >> (top - 2)) & (classes_a_doubling - 1);
    constexpr std::size_t first_top = 7;  // of the first size beyond the linear ones
    return linear_classes + (top - first_top) * classes_a_doubling + quarter;
}

/// The class whose objects hold `size` bytes and lie on multiples of `alignment`, a power of two.
inline std::size_t aligned_class_for(std::size_t alignment, std::size_t size) {
    std::size_t power = alignment;
    while (power < size)
        power *= 2;
    if (alignment <= cache_line_bytes)
        return class_for(power);
    constexpr int first_top = 7;  // of 128
    return plain_classes + static_cast<std::size_t>(63 - __builtin_clzll(power) - first_top);
}

static_assert(class_bytes(regular_classes - 1) == largest_small_bytes);
static_assert(class_bytes(class_count - 1) == largest_small_bytes);

}  // namespace steelyard::layout
