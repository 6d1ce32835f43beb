// The stacks that threads were started on, so that a search sees when a thread is on another one.

#pragma once

#include <cstdint>

#include "memory_map.hpp"

namespace steelyard::layout {

/// Before there are other threads, in the first one.
void prepare_homes();

/// The stack that the thread with this thread pointer was started on, as of the last reading of the
/// memory map; its end is 0 where that is unknown. Safe in signal handlers.
Region home_of(std::uint64_t thread_pointer);

/// What glibc's PTR_MANGLE takes.
std::uint64_t pointer_guard();

/// Where the stack ends that a thread of `process`, which waits at this stack pointer, was started
/// on; 0 where it is on another one, or where that cannot be known. `memory` is the process's own,
/// as a file.
std::uint64_t end_of_home(long process, long memory, long thread, std::uint64_t stack_pointer);

/// Notes where the calling thread was started. Safe in signal handlers.
void remember_home(std::uint64_t thread_pointer);

/// Whether it is known that a thread, which waits at this stack pointer, is on another stack than
/// that which it was started on.
bool is_away_from_home(long process, long memory, long thread, std::uint64_t stack_pointer);

}  // namespace steelyard::layout
