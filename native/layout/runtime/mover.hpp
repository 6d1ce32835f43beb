// The process beside the program that lays new copies every interval, and the lock that keeps it
// from doing so.

#pragma once

#include <cstdint>

namespace steelyard::layout {

/// Starts the mover: the process that lays new copies every interval. It shares the program's
/// memory and actions of signals, and nothing else: no descriptors, no threads, no limits, no
/// filters of system calls.
void start_mover();
/// Ends the mover, and waits until it has ended; its time is then the program's.
void stop_mover();
/// Waits until no copy is being laid, and lets none be laid until `resume_moves`.
void hold_moves();
/// The same where this process is the one that is moved, and it can be had; whether it was.
///
/// The child of a vfork shares the lock with its parent, and a handler of a signal may have
/// interrupted who has it.
bool hold_moves_of_program();
void resume_moves();
/// As `resume_moves`, by no system call: who waits sees it a little later.
void resume_moves_in_silence();
/// In the child of a fork: a mover of its own.
void restart_mover_in_child();

}  // namespace steelyard::layout
