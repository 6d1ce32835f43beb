#include "counting.hpp"

#include <linux/perf_event.h>
#include <unistd.h>

#include "fatal.hpp"

namespace steelyard {

CountingEvent::CountingEvent(pid_t thread, Scope scope, bool kernel) {
    perf_event_attr attributes = monotonic_attributes(kernel);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_TASK_CLOCK;
    attributes.inherit = scope == Scope::descendants ? 1 : 0;
    file_ = open_event(attributes, {thread, -1});
    if (file_ < 0)
        throw Fatal::with_errno("The kernel does not count processor time");
}

CountingEvent::~CountingEvent() {
    close(file_);
}

std::uint64_t CountingEvent::count_ns() const {
    std::uint64_t count = 0;
    return read(file_, &count, sizeof count) == sizeof count ? count : 0;
}

}  // namespace steelyard
