// Functions whose code can be copied to another place, where it does the same.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "call_frames.hpp"
#include "growable_frames.hpp"
#include "plan.hpp"

namespace steelyard {

/// Four bytes that say how far it is from the end of an instruction to an address.
struct CodeReference {
    std::uint64_t field, end, target;
};

/// A function with its parts, or why it cannot be copied.
struct ClonableFunction {
    std::uint64_t start;
    std::vector<std::pair<std::uint64_t, std::uint64_t>>
        parts;  ///< the one that it begins with first
    std::vector<CodeReference> references;
    std::string reason;
};

/// The copy has the length of the original, so that short jumps and frame tables stay right.
/// `taken` are addresses that code or data name: a function is not copied if one lies inside of it,
/// as those of a table of jumps do.
std::vector<ClonableFunction> clonable_functions(std::span<const PlannedFunction> functions,
                                                 CodeBytes code, CallFrames& frames,
                                                 const std::set<std::uint64_t>& taken);

}  // namespace steelyard
