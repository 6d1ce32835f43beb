// What the sampler is asked for on its command line. It is started by steelyard, not by hand.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "recording.hpp"
#include "sampler.hpp"

namespace steelyard {

struct Options {
    Storage storage;
    Sampling sampling;
    CountedEvents events;  ///< taken in the place of looks; none: looks are
    pid_t process = 0;     ///< to attach to; 0: `command` is started
    bool threads_only = false;
    double duration_s = 0;
    int report = 2;              ///< the descriptor to which one JSON object is written at the end
    std::vector<char*> command;  ///< ends with a null pointer
};

/// Throws Fatal for what it does not understand; what stood before that is in `options` then.
void read_options(int count, char** words, Options& options);

}  // namespace steelyard
