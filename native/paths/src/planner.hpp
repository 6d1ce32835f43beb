// Finds the functions of a program by .eh_frame, how their entries can be watched, and where the
// frames of callers are.

#pragma once

#include <string>
#include <vector>

#include "plan.hpp"

namespace steelyard {

struct Plan {
    PlanHeader header{};
    std::vector<PlannedFunction> functions;
    std::vector<CallSite> call_sites;  ///< in their places; free ones are zero
};

/// Throws Fatal where the file cannot be read, is no program for x86-64 that is linked with
/// libraries, or has no tables of frames.
Plan plan_of(const std::string& path);

}  // namespace steelyard
