// Which processes belong to the profile: the one asked for and all that descend from it.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "side_band.hpp"
#include "unwinder.hpp"

namespace steelyard {

/// What a file `stat` of /proc says of a process or a thread; zeros where that is gone.
struct ProcessStat {
    char state = 0;
    std::uint32_t parent = 0;
    std::uint64_t stack_start = 0;  ///< of the first thread; 0: nobody but its user may know
};

/// That of the process or thread whose folder in /proc this is.
ProcessStat process_stat(const std::string& folder);

/// A process, and those that run now and descend from it, by /proc.
std::vector<pid_t> family_of(pid_t process);

/// Whether a process is gone, or has no thread left but is waited for by nobody.
bool has_ended(pid_t process);

/// Keeps the followed processes with what a new file of a rotated profile must restate of them.
class Following {
  public:
    void add(std::uint32_t process);

    /// Whether `process` was followed at that time. For one that was never heard of, its parents
    /// are asked for in /proc, since the word of its start may still wait in the ring of another
    /// CPU; of one that ended, samples may still wait, those of a round in particular.
    bool includes(std::uint32_t process, std::uint64_t time_ns);

    void started(const Lifetime& life);
    /// Whether a followed process ended with this, its last thread. The first one may end before
    /// others.
    bool ended(const Lifetime& life);
    void mapped(const Mapping& mapping);
    void named(const Comm& comm);

    /// The file that an address of a process is mapped from.
    std::optional<FilePlace> place_of(std::uint32_t process, std::uint64_t address) const;

    /// Those that run.
    std::vector<pid_t> processes() const;

    /// Calls `tell` with the name of every thread and every mapping of the processes that run.
    template <typename Tell>
    void restate(Tell tell) const {
        for (const auto& [number, process] : living_) {
            for (const auto& [thread, comm] : process.names)
                tell(comm);
            for (const auto& [start, mapping] : process.mappings)
                tell(mapping);
        }
    }

  private:
    struct Process {
        std::map<std::uint64_t, Mapping> mappings;  // by start
        std::map<std::uint32_t, Comm> names;        // by thread
        std::set<std::uint32_t> threads;
        // Those whose end was heard of before their start, on another CPU.
        std::set<std::uint32_t> ended_early;
    };

    struct Past {
        Process process;
        std::uint64_t end_ns = 0;
    };

    void bury(std::uint32_t number, Process process, std::uint64_t end_ns);

    std::unordered_map<std::uint32_t, Process> living_;
    std::unordered_map<std::uint32_t, Past> past_;
    std::unordered_map<std::uint32_t, bool> strangers_;
};

}  // namespace steelyard
