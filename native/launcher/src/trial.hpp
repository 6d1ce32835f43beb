// Runs one trial from preparation to clean-up, with all the parts that the trials of a session
// share.

#pragma once

#include "command.hpp"
#include "counters.hpp"
#include "leftovers.hpp"
#include "network.hpp"
#include "record.hpp"
#include "streams.hpp"
#include "watch.hpp"

namespace steelyard {

/// What every trial of a session uses.
struct Bench {
    Streams& streams;
    Watch& watch;
    Counters& counters;
    Leftovers& leftovers;
    PrivateNetwork& network;
};

/// Runs one trial with its preparation and clean-up. False where it was stopped before its end,
/// which leaves no record.
bool run_trial(Bench& bench, const Program& program, Record& record);

}  // namespace steelyard
