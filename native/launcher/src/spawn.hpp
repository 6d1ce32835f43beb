// Starts one command under its conditions, waits for its end, and takes its times and resource
// usage.

#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>

#include "command.hpp"
#include "conditions.hpp"
#include "streams.hpp"
#include "watch.hpp"

namespace steelyard {

/// One execution of a command, as the launcher saw it.
struct Execution {
    Failure failure;            ///< what kept it from starting, if anything
    std::int64_t start_ns = 0;  ///< monotonic clock, read by the child right before execve(2)
    std::int64_t end_ns = 0;    ///< monotonic clock, read right after wait4(2) returned
    int status = 0;
    rusage usage{};
    Ending ending = Ending::natural;
    Realised realised;

    bool exited_with(int& exit_code) const;
    bool ended_by(int& signal) const;
};

/// How a command is started: what it inherits, and under which conditions.
struct Start {
    const Command& command;
    const Conditions& conditions;
    const PrivateNetwork& network;
    int input = -1;   ///< descriptor for its standard input, -1: the launcher's own
    int output = -1;  ///< descriptor for its standard output, -1: the launcher's own
};

/// Starts a command in a process group of its own, watches it and waits for its end.
Execution execute(const Start& start, std::int64_t timeout_ns, Watch& watch);

}  // namespace steelyard
