// Finds the functions of the program that are on the stack, by .eh_frame, where the entries that
// were seen do not tell: in callbacks, after exceptions, on stacks of coroutines.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan.hpp"
#include "unwind_row.hpp"

namespace steelyard {

/// A function of the program on the stack.
struct Activation {
    std::uint64_t entry_stack;  ///< the stack pointer at its entry
    std::uint32_t function;
};

struct Walk {
    std::vector<Activation> activations;  ///< innermost first
    /// Where the stack begins; nothing where the walk was stopped, or did not get there.
    std::optional<std::uint64_t> start;
    /// The function where it was stopped.
    std::optional<Activation> known;
};

/// Not for several threads at once. `is_known` stops the walk.
Walk walk_stack(Registers registers, std::span<const PlannedFunction> functions, std::uint64_t bias,
                bool (*is_known)(const Activation&));

}  // namespace steelyard
