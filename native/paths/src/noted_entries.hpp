// Notes entries of functions whose path is known without a walk of the stack.

#pragma once

#include <cstdint>

#include "recorded_thread.hpp"
#include "remembered_walks.hpp"

namespace steelyard {

constexpr std::uint64_t word = sizeof(std::uint64_t);

/// Whether the entry of a function was seen where the frame is.
bool is_at(const Thread& own, const Frame& frame, std::uint64_t entry_stack,
           std::uint32_t function);

/// A function on top of those that are noted; `kind` as of frames.
void push(Thread& own, std::uint32_t function, std::uint64_t entry_stack, std::uint32_t kind,
          std::uint64_t call_site);

/// Whether the path to a function was found: by the call that it returns to, through libraries
/// whose frames are known, or as it was walked before.
bool note_entry(Thread& own, std::uint32_t function, const Entry& entry);

}  // namespace steelyard
