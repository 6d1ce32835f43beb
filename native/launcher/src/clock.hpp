// The clocks that the launcher reads around a program: a monotonic one for durations, and the wall
// clock for dates.

#pragma once

#include <cstdint>

namespace steelyard {

constexpr std::int64_t second_ns = 1'000'000'000;

/// CLOCK_MONOTONIC in nanoseconds; reads the vDSO and makes no system call.
std::int64_t monotonic_ns() noexcept;

/// CLOCK_REALTIME in nanoseconds since the epoch.
std::int64_t unix_ns() noexcept;

}  // namespace steelyard
