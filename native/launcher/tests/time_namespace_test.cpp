#include "time_namespace.hpp"

#include <errno.h>
#include <unistd.h>

#include <cstring>

#include "clock.hpp"
#include "in_child.hpp"
#include "tests.hpp"

using namespace steelyard;

namespace {

constexpr std::int64_t shift_s = 100'000;

bool may_shift() {
    return access("/proc/self/timens_offsets", F_OK) == 0 && geteuid() == 0;
}

/// Where it may not be done, the step that failed is named, with errno.
bool is_refused(const char* step) {
    return step != nullptr && std::strcmp(step, "make a time namespace") == 0 &&
           (errno == EPERM || errno == EINVAL);
}

}  // namespace

TEST("who is started then sees the clock shifted, and who shifts it does not") {
    CHECK(holds_in_child([] {
        std::int64_t realised_s = 0;
        const char* const step = shift_clocks(shift_s, realised_s);
        if (!may_shift() || is_refused(step))
            return is_refused(step);
        const std::int64_t own_ns = monotonic_ns();
        // A child is in the namespace from its beginning, a program from execve(2) on.
        const bool is_shifted =
            holds_in_child([own_ns] { return monotonic_ns() - own_ns >= shift_s * second_ns; });
        const bool is_own = monotonic_ns() - own_ns < shift_s * second_ns;
        return step == nullptr && realised_s == shift_s && is_shifted && is_own;
    }));
}

TEST("a clock that would be before its beginning is refused, and no shift is told") {
    CHECK(holds_in_child([] {
        std::int64_t realised_s = 17;
        const char* const step = shift_clocks(-1'000'000'000, realised_s);
        if (!may_shift() || is_refused(step))
            return is_refused(step);
        return step != nullptr && std::strcmp(step, "shift its clocks") == 0 && realised_s == 17;
    }));
}
