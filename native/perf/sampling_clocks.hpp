// The clocks that the sampler reads.

#pragma once

#include <time.h>

#include <cstdint>

namespace steelyard {

constexpr std::uint64_t nanoseconds = 1'000'000'000;

inline std::uint64_t clock_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * nanoseconds +
           static_cast<std::uint64_t>(now.tv_nsec);
}

/// The clock that samples are stamped by.
inline std::uint64_t monotonic_ns() {
    return clock_ns(CLOCK_MONOTONIC);
}

/// Processor time of the calling thread.
inline std::uint64_t thread_time_ns() {
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

}  // namespace steelyard
