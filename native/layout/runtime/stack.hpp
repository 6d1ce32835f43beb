#pragma once

#include "random.hpp"

namespace steelyard::layout {

/// Draws the pads of all functions and gives the main thread a stack to hold them.
void start_stack(Random random);
/// Draws them anew.
void refill_stack_pads();

}  // namespace steelyard::layout
