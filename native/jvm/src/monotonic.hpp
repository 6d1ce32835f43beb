// The clock by which the agent dates compiled code and its own samples, so that both can be matched
// with the samples of the kernel.

#pragma once

#include <time.h>

#include <cstdint>

namespace steelyard {

constexpr std::uint64_t nanoseconds = 1'000'000'000;

/// CLOCK_MONOTONIC, by which samples are timed too.
inline std::uint64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * nanoseconds +
           static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace steelyard
