// Reads the stack of a thread that waits in the kernel, without waking it by a signal.

#pragma once

namespace steelyard::layout {

/// Notes the stack of a thread of `process` that waits in the kernel, as long as it does not run
/// meanwhile and is on the stack that it was started on; false where it has to be asked.
/// `memory` is the process's own, as a file.
bool note_waiting(long process, long memory, long thread);

}  // namespace steelyard::layout
