#include "clock.hpp"

#include <ctime>

namespace steelyard {

namespace {

std::int64_t read(clockid_t clock) noexcept {
    timespec now{};
    clock_gettime(clock, &now);
    return now.tv_sec * second_ns + now.tv_nsec;
}

}  // namespace

std::int64_t monotonic_ns() noexcept {
    return read(CLOCK_MONOTONIC);
}

std::int64_t unix_ns() noexcept {
    return read(CLOCK_REALTIME);
}

}  // namespace steelyard
