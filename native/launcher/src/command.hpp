// What a trial executes: the vectors for execve(2), and around the program its preparation,
// clean-up, limits of time and expected exit codes.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conditions.hpp"
#include "protocol.hpp"

namespace steelyard {

/// A file to execute with its argument and environment vectors, ready for execve(2).
class Command {
  public:
    std::string path;
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    std::string directory;

    /// Builds the vectors; to be called once all strings are in place and stay there.
    void seal();

    char* const* argv() const { return argv_.data(); }
    char* const* envp() const { return envp_.data(); }

  private:
    std::vector<char*> argv_;
    std::vector<char*> envp_;
};

/// A program to be measured, with what is done around each of its trials.
struct Program {
    Command command;
    std::optional<Command> prepare;
    std::optional<Command> cleanup;
    Conditions conditions;
    std::string input;
    std::int64_t timeout_ns = 0;
    std::int64_t warmup_runs = 0;  ///< executions right before the measured one
    std::vector<int> expected_exit_codes;

    bool expects(int exit_code) const;
};

/// A program from the fields of its message, which are names and values in turn from the third
/// on. Throws Fatal on a name that is not known.
Program program_from(const Fields& fields);

}  // namespace steelyard
