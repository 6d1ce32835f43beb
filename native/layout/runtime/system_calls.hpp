// Keeps the signals of the runtime from changing the program's system calls, and notices filters
// (seccomp) before these.

#pragma once

#include <ucontext.h>

namespace steelyard::layout {

/// A system call that the search of stacks alone cut short goes on, as if nothing had happened:
/// SA_RESTART does not do that for those with a timeout. `registers` are those of a thread that a
/// signal interrupted.
void restart_interrupted_call(ucontext_t& interrupted);

/// Whether the program has put a filter before its system calls, as far as that is known. The
/// mover tells where it saw one.
bool calls_are_filtered();
void note_filter();

}  // namespace steelyard::layout
