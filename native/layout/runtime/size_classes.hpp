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
constexpr std::size_t class_count = linear_classes + 8 * classes_a_doubling;

constexpr std::size_t class_bytes(std::size_t index) {
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
    const std::size_t last = size - 1;
    const auto top = static_cast<std::size_t>(63 - __builtin_clzll(last));
    const std::size_t quarter = (last >> (top - 2)) & (classes_a_doubling - 1);
    constexpr std::size_t first_top = 7;  // of the first size beyond the linear ones
    return linear_classes + (top - first_top) * classes_a_doubling + quarter;
}

static_assert(class_bytes(class_count - 1) == largest_small_bytes);

}  // namespace steelyard::layout
