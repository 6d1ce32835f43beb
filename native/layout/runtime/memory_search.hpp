// Searches all writable memory for addresses of copies, for programs that switch stacks by
// themselves.

#pragma once

#include <cstdint>

namespace steelyard::layout {

/// For programs that switch stacks by themselves: notes by `Modules::note` every word of the
/// program's writable memory that is an address of a copy. A stack that nobody is on is memory like
/// any other. Too much is found, never too little, but for words that are moved meanwhile.
///
/// False where some of the memory could not be read.
bool note_all_memory();

/// Whether the last search is long enough ago, measured by the time that it took.
bool memory_search_is_due();

}  // namespace steelyard::layout
