#pragma once

#include <cstdint>

namespace steelyard::layout {

/// Starts the thread that lays new copies every interval. libc does not know of it.
void start_manager();
/// Waits until no copy is being laid, and lets none be laid until `resume`.
void hold_manager();
void resume_manager();
/// In the child of a fork: a manager of its own.
void restart_manager_in_child();

}  // namespace steelyard::layout
