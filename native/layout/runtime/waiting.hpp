#pragma once

#include <cstdint>

namespace steelyard::layout {

enum class Seen : std::uint8_t { noted, runs, incomplete };

void prepare_waiting();
/// Notes the stack of a thread that waits in the kernel, as long as it does not run meanwhile.
/// `memory` is the process's own, as a file.
Seen note_waiting(long memory, long thread);
/// Whether a thread will never return to the program.
bool is_ending(long thread);

}  // namespace steelyard::layout
