// Control groups that hold a container to its limits, where this user may make some: those of
// version 2, or the controllers `pids` and `memory` of version 1.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace steelyard {

/// How often a limit of a control group was met.
struct Refusals {
    std::int64_t forks = 0;
    std::int64_t memory_kills = 0;
};

/// What the group whose folder this is has refused.
Refusals refusals_in(const std::string& folder);

/// The groups of one container, below the groups of this process.
class Cgroups {
  public:
    /// Makes them; what cannot be had is left out. 0 is no limit.
    void make(const std::string& name, std::int64_t processes, std::int64_t memory_bytes);

    /// Whether they hold the number of processes, the memory.
    bool limits_processes() const { return limits_processes_; }
    bool limits_memory() const { return limits_memory_; }

    /// The files that a process writes "0" to in order to enter.
    const std::vector<std::string>& entries() const { return entries_; }

    /// Ends what is left in them, then removes them.
    void remove();

  private:
    void make_in_version_2(const std::string& name, std::int64_t processes,
                           std::int64_t memory_bytes);
    void make_in_version_1(const std::string& controller, const std::string& name,
                           std::int64_t limit);

    std::vector<std::string> folders_;
    std::vector<std::string> entries_;
    bool limits_processes_ = false;
    bool limits_memory_ = false;
};

}  // namespace steelyard
