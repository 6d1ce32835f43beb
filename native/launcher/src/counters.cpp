#include "counters.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>

#include "fatal.hpp"

namespace steelyard {

namespace {

struct Event {
    std::string_view name;
    std::uint32_t type;
    std::uint64_t config;
    /// The event happens inside the kernel: without the right to count there it would read 0.
    bool needs_kernel;
};

constexpr std::array events{
    Event{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
    Event{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
    Event{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false},
    Event{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false},
    Event{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
    Event{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
    Event{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false},
};

struct Reading {
    std::uint64_t value;
    std::uint64_t enabled_ns;
    std::uint64_t running_ns;
};

}  // namespace

std::optional<std::int64_t> scaled_count(std::uint64_t raw, std::uint64_t enabled_ns,
                                         std::uint64_t running_ns) {
    if (running_ns == 0)
        return std::nullopt;
    if (running_ns >= enabled_ns)
        return static_cast<std::int64_t>(raw);
    const long double share =
        static_cast<long double>(enabled_ns) / static_cast<long double>(running_ns);
    return std::llround(static_cast<long double>(raw) * share);
}

Counters::~Counters() {
    for (const Counter& counter : counters_) {
        if (counter.file >= 0)
            close(counter.file);
    }
}

void Counters::add(std::string_view name) {
    for (const Event& event : events) {
        if (event.name != name)
            continue;
        counters_.push_back({event.name, event.type, event.config, event.needs_kernel, {}, -1, {}});
        return;
    }
    throw Fatal("The launcher has no counter '" + std::string(name) + "'.");
}

int Counters::open_with(const Counter& counter, bool kernel) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = counter.type;
    attributes.config = counter.config;
    attributes.disabled = 1;
    attributes.inherit = 1;
    attributes.enable_on_exec = 1;
    attributes.exclude_kernel = kernel ? 0 : 1;
    attributes.exclude_hv = kernel ? 0 : 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return static_cast<int>(
        syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

void Counters::open(Counter& counter) {
    counter.count.reset();
    if (counter.access == Access::untried || counter.access == Access::everything) {
        counter.file = open_with(counter, true);
        const bool forbidden = counter.file < 0 && (errno == EACCES || errno == EPERM);
        counter.access = counter.file >= 0                    ? Access::everything
                         : forbidden && !counter.needs_kernel ? Access::user_only
                                                              : Access::none;
    }
    if (counter.access == Access::user_only) {
        counter.file = open_with(counter, false);
        if (counter.file < 0)
            counter.access = Access::none;
    }
}

void Counters::open() {
    for (Counter& counter : counters_)
        open(counter);
}

void Counters::read() {
    for (Counter& counter : counters_) {
        if (counter.file < 0)
            continue;
        Reading reading{};
        if (::read(counter.file, &reading, sizeof reading) == sizeof reading) {
            const auto value = scaled_count(reading.value, reading.enabled_ns, reading.running_ns);
            if (value) {
                counter.count = Count{*value, static_cast<std::int64_t>(reading.enabled_ns),
                                      static_cast<std::int64_t>(reading.running_ns),
                                      counter.access == Access::everything};
            }
        }
        close(counter.file);
        counter.file = -1;
    }
}

}  // namespace steelyard
