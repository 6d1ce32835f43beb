// Writes what the analysis found as the layout table (format/table.hpp) that the runtime reads.

#pragma once

#include <cstdint>
#include <vector>

#include "elf_image.hpp"
#include "movable_functions.hpp"

namespace steelyard::layout {

/// What the driver asks for.
struct Wishes {
    std::uint32_t parts = 0;
    std::uint64_t interval_ns = 0;
    std::uint64_t seed = 0;
};

/// The bytes of the layout table.
std::vector<std::uint8_t> layout_table(const ElfImage& image, const Functions& functions,
                                       const Wishes& wishes);

}  // namespace steelyard::layout
