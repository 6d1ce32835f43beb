// What a process is before it becomes a program of the benchmark's: without privileges,
// descriptors, keys or signals of ours, and within its limits.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace steelyard {

/// Where programs of a container run, and with which limits.
struct Place {
    std::string folder = "/package";
    uid_t user = 0;  ///< inside; 0 keeps the privileges of root
    std::int64_t processes = 0;
    std::int64_t data_bytes = 0;
    std::vector<int> cgroups;  ///< open files that "0" is written to
};

/// Makes the calling process a clean one, its standard input empty and its output the open file
/// `output`, and executes the command. Gives up with exit code 127 and a line on `output`.
[[noreturn]] void become(const Place& place, const std::vector<std::string>& command,
                         const std::vector<std::string>& environment, int output, int errors);

}  // namespace steelyard
