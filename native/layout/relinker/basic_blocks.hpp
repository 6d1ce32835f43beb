// Cuts a function into the basic blocks that the runtime may lay apart from each other.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "movable_functions.hpp"

namespace steelyard::layout {

/// Cuts the code of a function that moves into basic blocks: at every place that a branch of its
/// own, a jump table or a label leads to, and behind every branch. Gives nothing and says why in
/// `reason` where a block could not be moved away from the next.
std::vector<Block> basic_blocks(const Function& function, std::span<const std::uint8_t> code,
                                const std::vector<std::uint64_t>& table_targets,
                                std::string& reason);

}  // namespace steelyard::layout
