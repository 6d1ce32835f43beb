// Runs one command inside a container to its end, with limits of time and output.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "clean_process.hpp"

namespace steelyard {

/// A command with its limits, and where its output goes.
struct Errand {
    std::vector<std::string> command;
    std::vector<std::string> environment;
    std::int64_t time_ms = 0;       ///< 0: none
    std::int64_t output_bytes = 0;  ///< 0: none
    int log = -1;                   ///< what it writes goes there
    bool keeps_output = false;      ///< its standard output is kept instead, in `Outcome::output`
};

/// How it ended.
struct Outcome {
    int status = 0;  ///< of waitpid
    bool late = false;
    bool flooded = false;
    std::string output;

    bool succeeded() const { return !late && !flooded && status == 0; }
    /// What went wrong, after the name of the command: "failed with exit code 3".
    std::string told(const Errand& errand) const;
};

/// Runs it as a child of this process, the first of its PID namespace, and waits for orphans too.
/// When the command itself has ended, or must, whatever it left is not waited for.
Outcome run(const Errand& errand, const Place& place);

}  // namespace steelyard
