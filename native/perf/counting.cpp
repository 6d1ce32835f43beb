#include "counting.hpp"

#include <linux/perf_event.h>
#include <unistd.h>

#include <array>

#include "fatal.hpp"

namespace steelyard {

CountingEvent::CountingEvent(pid_t thread, Scope scope, bool kernel, Clock clock) {
    perf_event_attr attributes = monotonic_attributes(kernel);
    const bool counts_time = clock == Clock::software;
    attributes.type = counts_time ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE;
    // Both count the time of a thread. A leader is of the kind that samples: an event that is led
    // by one of another kind is switched on by Linux 6.18 only when its thread next gets a CPU.
    const std::uint64_t time =
        scope == Scope::thread ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_TASK_CLOCK;
    attributes.config = counts_time ? time : static_cast<std::uint64_t>(PERF_COUNT_HW_CPU_CYCLES);
    attributes.inherit = scope == Scope::descendants ? 1 : 0;
    // Older kernels read no group of what is inherited.
    attributes.read_format = scope == Scope::thread ? PERF_FORMAT_GROUP : 0;
    is_group_ = scope == Scope::thread;
    file_ = open_event(attributes, {thread, -1});
    if (file_ < 0)
        throw Fatal::with_errno("The kernel does not count processor time");
}

CountingEvent::~CountingEvent() {
    close(file_);
}

CountingEvent::Counts CountingEvent::counts() const {
    if (!is_group_) {
        std::uint64_t count = 0;
        return {read(file_, &count, sizeof count) == sizeof count ? count : 0, 0};
    }
    // The number of events, and then what each counted, its leader first.
    std::array<std::uint64_t, 3> words{};
    if (read(file_, words.data(), sizeof words) < static_cast<ssize_t>(2 * sizeof(std::uint64_t)))
        return {};
    return {words[1], words[0] > 1 ? words[2] : 0};
}

}  // namespace steelyard
