// Looks into libraries that were not built to move, for code that switches stacks.

#pragma once

namespace steelyard::layout {

/// Whether a library that came since the last reading of the memory map may switch stacks: one that
/// was not built to move, and takes its stack pointer from memory. Each is looked at once.
bool new_code_switches_stacks();

}  // namespace steelyard::layout
