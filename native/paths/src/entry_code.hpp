// Moves the first instructions of a function, so that a jump fits in their place.

#pragma once

#include <cstdint>
#include <span>

#include "plan.hpp"

namespace steelyard {

/// Fill in which instructions at the entry of a function are moved, and how. `code` begins at
/// `function.start` and holds at least the function; what lies between its end and `next_start` is
/// padding.
void plan_entry(PlannedFunction& function, std::span<const std::uint8_t> code,
                std::uint64_t next_start);

}  // namespace steelyard
