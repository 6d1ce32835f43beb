// What is set on a program between fork and execve (CPUs, ASLR, priority, limits, memory nodes,
// network, clocks), and what was read back.

#pragma once

#include <sched.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "limits.hpp"
#include "network.hpp"

namespace steelyard {

/// What a program asks for beyond what it inherits.
struct Conditions {
    std::optional<cpu_set_t> cpus;
    std::optional<bool> aslr;
    std::optional<int> nice;
    std::optional<int> realtime_priority;
    std::vector<Limit> limits;
    bool private_network = false;
    std::optional<std::uint64_t> memory_nodes;  ///< a bit for each node, the first is node 0
    std::optional<std::int64_t> clock_shift_s;
    std::string container;  ///< folder of the state of the container that it runs in, or empty
};

/// What was found to be in force just before the program started.
struct Realised {
    cpu_set_t cpus{};
    bool aslr = true;
    int nice = 0;
    int realtime_priority = 0;
    std::uint64_t memory_nodes = 0;
    std::int64_t clock_shift_s = 0;
};

/// What could not be done before the program started.
struct Failure {
    const char* step = nullptr;
    int error = 0;

    explicit operator bool() const { return step != nullptr; }
};

/// Applies the conditions to the calling process and reads back what is in force. Runs in the
/// child while it shares the memory of the launcher: allocates nothing, throws nothing.
Failure apply(const Conditions& conditions, const PrivateNetwork& network,
              Realised& realised) noexcept;

/// The bits of a mask as a list of numbers, such as `0,2`.
std::string bit_list(std::uint64_t bits);

/// CPUs as a list of ranges, such as `0-3,8`.
std::string cpu_list(const cpu_set_t& cpus);

}  // namespace steelyard
