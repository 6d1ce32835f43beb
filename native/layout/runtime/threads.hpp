// Finds out which copies the threads of the program may return to, by their stacks and registers.

#pragma once

#include <cstdint>

namespace steelyard::layout {

/// Notes by `Modules::note` every address of a copy on the stack or in the registers of every
/// thread of a process, which is the caller's own or shares the caller's memory. A thread that
/// waits in the kernel is read where it waits and not interrupted; one that runs is asked by a
/// signal and goes on at once.
///
/// False where not all of it can be known now: a thread that does not answer, or that may not be
/// asked, as a filter looks at its system calls.
bool note_all_threads(long process);

/// In the child of a fork, where none of them is.
void forget_threads_of_parent();

/// Before the first round, in the first thread: how the signal is taken.
void prepare_rounds();

struct ThreadCounts {
    std::uint64_t interruptions, longest_pause_ns, total_pause_ns;
};
const ThreadCounts& thread_counts();

}  // namespace steelyard::layout
