// What /proc tells of the program's process and its threads, to the mover or to itself.

#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard::layout {

/// Reads /proc/PROCESS/task/THREAD followed by `what`, and ends it with a null byte; how many
/// bytes, or -1.
long read_about(long process, long thread, const char* what, char* buffer, std::size_t size);

/// Opens the folder of a process's threads.
long open_threads(long process);

enum class FirstThread : std::uint8_t { runs, is_ending, has_ended };

/// What the first thread of a process does; `runs` where that cannot be known.
FirstThread state_of_first(long process);

/// Whether a thread will never return to the program.
bool is_ending(long process, long thread);

/// Whether a filter looks at the system calls of a thread that does not at the caller's; yes where
/// that cannot be known.
bool is_filtered(long process, long thread);

/// Whether /proc numbers processes as they number each other; it does not where it is another
/// namespace's.
bool numbers_agree(long process);

}  // namespace steelyard::layout
