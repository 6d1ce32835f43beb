// Finds the functions of the program that are on the stack, by .eh_frame, where the entries that
// were seen do not tell: in callbacks, after exceptions, on stacks of coroutines.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "library_steps.hpp"
#include "plan.hpp"
#include "remembered_walks.hpp"
#include "unwind_row.hpp"

namespace steelyard {

/// A function of the program on the stack.
struct Activation {
    std::uint64_t entry_stack;  ///< the stack pointer at its entry
    std::uint32_t function;
    std::uint32_t stack = 0;  ///< 0: the innermost one; one more with each that the walk went to
    /// Where the call returns to by which the next function outside led here, as virtual address;
    /// 0: it was interrupted, or there is none.
    std::uint64_t call_site = 0;
};

struct Walk {
    std::vector<Activation> activations;  ///< innermost first
    std::uint64_t call_site = 0;          ///< that of the function that was entered
    /// Where the stack begins; nothing where the walk was stopped, or did not get there.
    std::optional<std::uint64_t> start;
    /// The function where it was stopped.
    std::optional<Activation> known;
    /// The stack that the walk ended on. Others are those of signal handlers: how far they are from
    /// its beginning says nothing.
    std::uint32_t last_stack = 0;
    /// What was read of the stack that led to the answer, which is the same while these words are;
    /// `rests_on_words` is false where it rests on something else too.
    std::vector<ReadWord> words;
    bool rests_on_words = true;
    bool uses_frame_pointer = false;  ///< that of the function that was entered
    std::vector<LibraryStep> steps;   ///< those that only move by a number of bytes
};

/// Not for several threads at once. `is_known` stops the walk.
Walk walk_stack(Registers registers, std::span<const PlannedFunction> functions, std::uint64_t bias,
                bool (*is_known)(const Activation&));

}  // namespace steelyard
