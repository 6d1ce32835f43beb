#include "event.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "fatal.hpp"
#include "refusals.hpp"

namespace steelyard {

namespace {

constexpr std::size_t sampling_pages = 16;
constexpr std::size_t copying_pages = 64;
// A round of samples of a KiB is less than half of it.
constexpr std::size_t round_pages = 64;
constexpr std::size_t tracking_pages = 64;
constexpr std::uint64_t never_by_itself = 1ULL << 62;

std::size_t ring_pages(Depth depth, bool in_group) {
    if (depth.stack_copy)
        return copying_pages;
    const bool is_long = depth.frame_pointers || depth.word_below_frame > 0;
    return is_long && in_group ? round_pages : sampling_pages;
}

}  // namespace

int open_event(perf_event_attr& attributes, Watched watched) {
    return static_cast<int>(syscall(SYS_perf_event_open, &attributes, watched.thread, watched.cpu,
                                    watched.leader, PERF_FLAG_FD_CLOEXEC));
}

perf_event_attr monotonic_attributes(bool kernel) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.exclude_kernel = kernel ? 0 : 1;
    attributes.exclude_hv = 1;
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_MONOTONIC;
    return attributes;
}

perf_event_attr copying_attributes(std::uint32_t copied_bytes) {
    const std::uint64_t registers = registers_of({.stack_copy = true});
    if (registers == 0)
        throw Fatal("Call stacks by DWARF are found on x86-64 alone; use --stacks frame-pointers.");
    perf_event_attr attributes = monotonic_attributes(true);
    attributes.sample_type = sample_fields | PERF_SAMPLE_STACK_USER;
    attributes.sample_regs_user = registers;
    attributes.sample_stack_user = copied_bytes;
    return attributes;
}

perf_event_attr registering_attributes() {
    perf_event_attr attributes = monotonic_attributes(true);
    attributes.sample_type = sample_fields;
    attributes.sample_regs_user = registers_of({});
    return attributes;
}

perf_event_attr sampling_attributes(Depth depth, bool kernel) {
    perf_event_attr attributes = monotonic_attributes(kernel);
    attributes.sample_type = sample_fields;
    attributes.sample_regs_user = registers_of(depth);
    if (depth.frame_pointers) {
        attributes.sample_type |= PERF_SAMPLE_CALLCHAIN;
        attributes.exclude_callchain_kernel = 1;
    }
    if (attributes.sample_regs_user == 0)
        throw Fatal("Call stacks by DWARF are found on x86-64 alone; use --stacks frame-pointers.");
    if (const std::uint32_t bytes = bytes_copied(depth)) {
        attributes.sample_type |= PERF_SAMPLE_STACK_USER;
        attributes.sample_stack_user = bytes;
    }
    return attributes;
}

Rights rights_here() {
    perf_event_attr attributes = monotonic_attributes(true);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.disabled = 1;
    const int everywhere = open_event(attributes, {-1, 0});
    if (everywhere >= 0) {
        close(everywhere);
        return {true, true};
    }
    const int own = open_event(attributes, {0, -1});
    if (own >= 0)
        close(own);
    return {false, own >= 0};
}

SamplingEvent::SamplingEvent(Watched watched, Clock clock, Depth depth, bool kernel,
                             std::optional<EventGroup> group) {
    perf_event_attr attributes = sampling_attributes(depth, kernel);
    attributes.type = clock == Clock::software ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE;
    attributes.config = clock == Clock::software
                            ? static_cast<std::uint64_t>(PERF_COUNT_SW_CPU_CLOCK)
                            : static_cast<std::uint64_t>(PERF_COUNT_HW_CPU_CYCLES);
    // Switching on one of many costs a look at all, so those of a group are on from the beginning.
    attributes.disabled = group ? 0 : 1;
    attributes.sample_period = never_by_itself;
    attributes.wakeup_events = group ? 0 : 1;
    file_ = open_event(attributes, watched);
    if (file_ < 0)
        throw refusal(clock == Clock::software ? "samples by its software clock"
                                               : "samples by the cycles of the processor");
    try {
        if (!group || group->first == nullptr)
            ring_ = std::make_unique<Ring>(file_, ring_pages(depth, group.has_value()));
        else if (ioctl(file_, PERF_EVENT_IOC_SET_OUTPUT, group->first->file()) != 0)
            throw Fatal::with_errno("The kernel does not put the samples of events together");
    } catch (const Fatal&) {
        close(file_);
        throw;
    }
}

SamplingEvent::~SamplingEvent() {
    ring_.reset();
    close(file_);
}

void SamplingEvent::postpone(std::uint64_t interval_ns) {
    if (ioctl(file_, PERF_EVENT_IOC_PERIOD, &interval_ns) != 0)
        throw Fatal::with_errno("The kernel takes no new time to the next sample");
}

void SamplingEvent::sample_once(std::uint64_t interval_ns) {
    // The kernel turns it off by an interrupt of its own, after the sample that may be read
    // already. One that is still on would take no refresh, be turned off then, and never sample
    // again. For one that is off this is no more than a call.
    if (ioctl(file_, PERF_EVENT_IOC_DISABLE, 0) != 0)
        throw Fatal::with_errno("The kernel does not stop to sample");
    postpone(interval_ns);
    if (ioctl(file_, PERF_EVENT_IOC_REFRESH, 1) != 0)
        throw Fatal::with_errno("The kernel does not go on sampling");
}

void SamplingEvent::run(std::uint64_t interval_ns) {
    postpone(interval_ns);
    if (ioctl(file_, PERF_EVENT_IOC_ENABLE, 0) != 0)
        throw Fatal::with_errno("The kernel does not start to sample");
}

std::uint64_t SamplingEvent::identity() const {
    std::uint64_t identity = 0;
    if (ioctl(file_, PERF_EVENT_IOC_ID, &identity) != 0)
        throw Fatal::with_errno("The kernel does not tell one event from another");
    return identity;
}

TrackingEvent::TrackingEvent(Watched watched, bool kernel) {
    perf_event_attr attributes = monotonic_attributes(kernel);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    attributes.sample_id_all = 1;
    attributes.mmap = 1;
    attributes.mmap2 = 1;
    attributes.comm = 1;
    attributes.comm_exec = 1;
    attributes.task = 1;
    attributes.inherit = watched.thread >= 0 ? 1 : 0;
    // Records that are no samples wake by the bytes that they take alone.
    attributes.watermark = 1;
    attributes.wakeup_watermark = 1;
    // Kernels from 5.12 on tell which build of a file is mapped.
    attributes.build_id = 1;
    file_ = open_event(attributes, watched);
    if (file_ < 0 && errno == EINVAL) {
        attributes.build_id = 0;
        file_ = open_event(attributes, watched);
    }
    if (file_ < 0)
        throw refusal("to be told of new threads and mappings");
    try {
        ring_ = std::make_unique<Ring>(file_, tracking_pages);
    } catch (const Fatal&) {
        close(file_);
        throw;
    }
}

TrackingEvent::~TrackingEvent() {
    ring_.reset();
    close(file_);
}

}  // namespace steelyard
