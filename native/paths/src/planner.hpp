// Finds the functions of a program by .eh_frame, how their entries can be watched, and where the
// frames of callers are.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan.hpp"

namespace steelyard {

/// The call that a wrapper makes, and how much the wrapper has on the stack then.
struct WrappedCall {
    std::uint64_t callee, return_address;
    std::int64_t bytes;
};

struct Plan {
    PlanHeader header{};
    std::vector<PlannedFunction> functions;
    std::vector<CallSite> call_sites;  ///< in their places; free ones are zero
    std::unordered_map<std::uint64_t, WrappedCall> wrapped_calls;  ///< by the starts of wrappers
};

/// Throws Fatal where the file cannot be read, is no program for x86-64 that is linked with
/// libraries, or has no tables of frames.
Plan plan_of(const std::string& path);

}  // namespace steelyard
