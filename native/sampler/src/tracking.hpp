// What the kernel tells of processes beside samples, and what /proc tells of one that runs already.

#pragma once

#include <sys/types.h>

#include <variant>
#include <vector>

#include "profile_file.hpp"
#include "ring.hpp"

namespace steelyard {

struct Started : Lifetime {};
struct Ended : Lifetime {};
struct Lost {
    std::uint64_t records = 0;
};
using Happening = std::variant<std::monostate, Started, Ended, Mapping, Naming, Lost>;

/// Reads a record that is not a sample; `monostate` for a kind that profiles do not need.
Happening happening_from(const RawRecord& record);

/// Executable mappings and the names of the threads of a process that runs already.
std::vector<Mapping> present_mappings(pid_t process, std::uint64_t now_ns);
std::vector<Naming> present_names(pid_t process, std::uint64_t now_ns);

/// The threads of a process, by /proc; empty where it is gone.
std::vector<pid_t> threads_of(pid_t process);

}  // namespace steelyard
