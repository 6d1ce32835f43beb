// Copes with what the process runs in: a system without /proc, or a debugger.

#pragma once

#include "code_file.hpp"

namespace steelyard::layout {

/// The program's file as the kernel was told it, for where there is no /proc; null if unknown.
const char* file_of_program();

/// Whether the threads of this process can be listed; without /proc they cannot.
bool can_list_threads();

/// Says so where a debugger has set breakpoints into functions that are about to move: copies are
/// laid without them.
void warn_of_lost_breakpoints(const Program& program);

}  // namespace steelyard::layout
