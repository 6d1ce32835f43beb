// Writes the jumps to the recorder into the running program.

#pragma once

#include <cstdint>
#include <span>

#include "plan.hpp"

namespace steelyard {

/// Before the program's own code runs. `bias` is what it was loaded above its virtual addresses;
/// `entered` is called with the number of the function in eax, and keeps all registers. Gives
/// whether it could be done.
bool patch_entries(std::span<const PlannedFunction> functions, std::uint64_t image_end,
                   std::uint64_t bias, void (*entered)());

}  // namespace steelyard
