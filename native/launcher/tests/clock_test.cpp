#include "clock.hpp"

#include <time.h>

#include "tests.hpp"

using namespace steelyard;

namespace {

std::int64_t ns_of(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return now.tv_sec * second_ns + now.tv_nsec;
}

}  // namespace

TEST("durations are read from the clock that nobody sets, in nanoseconds") {
    const std::int64_t before = ns_of(CLOCK_MONOTONIC);
    const std::int64_t read = monotonic_ns();
    const std::int64_t again = monotonic_ns();
    const std::int64_t after = ns_of(CLOCK_MONOTONIC);
    CHECK(before <= read && read <= again && again <= after);
}

TEST("dates are of the clock on the wall") {
    // It may be set between the readings, in one direction or the other, but not six times.
    bool is_between = false;
    for (int tries = 0; tries < 6 && !is_between; ++tries) {
        const std::int64_t before = ns_of(CLOCK_REALTIME);
        const std::int64_t read = unix_ns();
        is_between = before <= read && read <= ns_of(CLOCK_REALTIME);
    }
    CHECK(is_between);
}
