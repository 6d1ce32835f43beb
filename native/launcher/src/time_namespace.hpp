// Shifts the monotonic and boot clocks of a program, by a time namespace of Linux.

#pragma once

#include <cstdint>

namespace steelyard {

/// Lets the program that the calling process becomes see CLOCK_MONOTONIC and CLOCK_BOOTTIME, and
/// with them the time since boot, by so many seconds later. CLOCK_REALTIME stays: Linux has no
/// namespace for it. The caller's own clocks stay too: the program enters the namespace with
/// execve(2), from Linux 6.1 on.
///
/// Runs in the child while it shares the memory of the launcher: allocates nothing, throws nothing.
/// Gives what could not be done, with errno set, or null; `realised_s` is what was read back.
const char* shift_clocks(std::int64_t shift_s, std::int64_t& realised_s) noexcept;

}  // namespace steelyard
