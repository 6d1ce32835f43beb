// What the recorder is asked for on its command line. It is started by steelyard, not by hand.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tracepoint.hpp"

namespace steelyard {

struct Options {
    pid_t process = 0;           ///< whose next program is recorded
    std::string output;          ///< where the paths go; empty: only see whether it can be done
    std::string notes;           ///< where threads note their stacks; empty: stacks are copied
    std::vector<Wanted> wanted;  ///< the kinds, numbered as they come
};

/// Throws Fatal for what it does not understand.
Options options_from(int count, char** words);

}  // namespace steelyard
