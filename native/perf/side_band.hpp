// Side-band records: what the kernel tells of processes beside samples, and what /proc tells of one
// that runs already.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ring.hpp"

namespace steelyard {

/// Code that a process has mapped: PERF_RECORD_MMAP.
struct Mapping {
    std::uint64_t time_ns = 0;
    std::uint32_t process = 0;
    std::uint64_t start = 0;
    std::uint64_t length = 0;
    std::uint64_t offset = 0;
    std::string path;
    std::uint64_t inode = 0;  ///< 0: not known
    std::string build_id;     ///< its bytes; empty where the file has none
};

/// The name of a thread: PERF_RECORD_COMM.
struct Comm {
    std::uint64_t time_ns = 0;
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    bool after_exec = false;
    std::string name;
};

/// A thread, and which one started it: PERF_RECORD_FORK, PERF_RECORD_EXIT.
struct Lifetime {
    std::uint64_t time_ns = 0;
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::uint32_t parent_process = 0;
    std::uint32_t parent_thread = 0;
};

struct Started : Lifetime {};
struct Ended : Lifetime {};
struct Lost {
    std::uint64_t records = 0;
};
using SideBandRecord = std::variant<std::monostate, Started, Ended, Mapping, Comm, Lost>;

/// Reads a record that is not a sample; `monostate` for a kind that profiles do not need.
SideBandRecord side_band_record_from(const RawRecord& record);

/// Executable mappings and the names of the threads of a process that runs already.
std::vector<Mapping> present_mappings(pid_t process, std::uint64_t now_ns);
std::vector<Comm> present_comms(pid_t process, std::uint64_t now_ns);

/// The threads of a process, by /proc; empty where it is gone.
std::vector<pid_t> threads_of(pid_t process);

}  // namespace steelyard
