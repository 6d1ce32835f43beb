// Which CPUs there are, and which of them a process can get to.

#pragma once

#include <sys/types.h>

#include <string_view>
#include <vector>

#include "fatal.hpp"

namespace steelyard {

/// A CPU that could be reached a moment ago cannot be any more.
struct CpuTaken : Fatal {
    explicit CpuTaken(const Fatal& fatal) : Fatal(fatal) {}
};

/// The CPUs that run, by rising number, which may have gaps.
std::vector<int> online_cpus();

/// Those of them that this process can move to, and what it starts: the CPUs of its cpuset
/// (cpuset(7)).
std::vector<int> cpus_within_reach();

/// Where a process may run; none where it is gone.
std::vector<int> cpus_of(pid_t process);

/// Whether the process runs on no CPU but those. Throws Fatal where there is no such process.
bool runs_within_reach(pid_t process);

/// The numbers in a list as the kernel writes it, such as "0-3,8"; none of what is not one.
std::vector<int> numbers_in(std::string_view list);

}  // namespace steelyard
