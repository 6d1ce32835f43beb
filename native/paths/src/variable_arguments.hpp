// Functions with variable arguments: what they read of these depends on the ones that are named.

#pragma once

#include "stack_depths.hpp"

namespace steelyard {

/// How many arguments in registers a function names, if it has variable ones too; otherwise `most`.
///
/// Such a function stores the registers of the others, and how far its list is in them (System V
/// ABI for AMD64, section 3.5.7).
unsigned named_arguments(const StackDepths& depths, unsigned most);

}  // namespace steelyard
