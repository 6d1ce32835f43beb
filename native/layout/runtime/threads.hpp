#pragma once

#include <cstdint>

namespace steelyard::layout {

/// Notes by `Code::note` every address of a copy on the stack or in the registers of every thread
/// but the calling one. A thread that waits in the kernel is read where it waits and not
/// interrupted; one that runs is asked by a signal and goes on at once.
///
/// False where not all of it can be known now: a thread on another stack, or one that does not
/// answer.
bool note_all_threads();

/// In the child of a fork, where none of them is.
void forget_threads_of_parent();

/// Before the first round: how the signal is taken.
void prepare_rounds();

struct ThreadCounts {
    std::uint64_t interruptions, longest_pause_ns, total_pause_ns;
};
const ThreadCounts& thread_counts();

}  // namespace steelyard::layout
