#include "counted_event.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "fatal.hpp"
#include "refusals.hpp"

namespace steelyard {

namespace {

// 2 MiB for each CPU, some 25,000 events without stacks: a reader may wait for its turn as long.
constexpr std::size_t many_pages = 512;
// What every user may lock together with what tracks threads (kernel.perf_event_mlock_kb).
constexpr std::size_t few_pages = 64;
constexpr std::size_t page_bytes = 4096;

perf_event_attr attributes_of(const CountedEvent& event, const CountedEvents& all, bool kernel) {
    perf_event_attr attributes = sampling_attributes(all.depth, kernel);
    attributes.type = event.type;
    attributes.config = event.config;
    if (event.is_place()) {
        attributes.uprobe_path = reinterpret_cast<std::uintptr_t>(event.path.c_str());
        attributes.probe_offset = event.offset;
    }
    attributes.sample_period = all.every;
    attributes.watermark = 1;
    attributes.wakeup_watermark = few_pages * page_bytes / 2;
    return attributes;
}

Fatal refusal_of(const CountedEvent& event) {
    if (event.is_place() && (errno == EACCES || errno == EPERM))
        return Fatal(
            "The kernel does not allow probes in programs to this user (perf_event_open(2)).\n"
            "Record as root, or with CAP_PERFMON.");
    if (event.is_place() && (errno == EINVAL || errno == EOPNOTSUPP || errno == EIO))
        return Fatal("The kernel puts no probe at byte " + std::to_string(event.offset) + " of " +
                     event.path + ": no instruction begins there that it can step over.");
    return refusal("samples of these events");
}

}  // namespace

EventCounter::EventCounter(const CountedEvent& event, const CountedEvents& all, Watched watched,
                           bool from_exec, Rights rights, const EventCounter* first) {
    perf_event_attr attributes = attributes_of(event, all, rights.kernel);
    if (watched.thread >= 0) {
        attributes.inherit = 1;
        attributes.disabled = from_exec ? 1 : 0;
        attributes.enable_on_exec = from_exec ? 1 : 0;
    }
    file_ = open_event(attributes, watched);
    if (file_ < 0)
        throw refusal_of(event);
    try {
        if (first == nullptr)
            ring_ = std::make_unique<Ring>(file_, rights.whole_cpus ? many_pages : few_pages);
        else if (ioctl(file_, PERF_EVENT_IOC_SET_OUTPUT, first->file()) != 0)
            throw Fatal::with_errno("The kernel does not put the samples of events together");
    } catch (const Fatal&) {
        close(file_);
        throw;
    }
}

EventCounter::~EventCounter() {
    ring_.reset();
    close(file_);
}

}  // namespace steelyard
