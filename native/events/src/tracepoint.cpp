#include "tracepoint.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "fatal.hpp"

namespace steelyard {

namespace {

// What holds the frames of most programs; the kernel reserves it for every event.
constexpr std::uint32_t copied_bytes = 16U << 10U;
// 16 MiB, a thousand stacks: what may happen on one CPU while the reader waits for its turn.
constexpr std::size_t ring_pages = 4096;
constexpr std::uint32_t wakeup_bytes = 1U << 20U;

Fatal refusal() {
    if (errno == EACCES || errno == EPERM)
        return Fatal("The kernel does not let this user record call stacks of events.");
    if (errno == ENOENT || errno == EOPNOTSUPP || errno == ENODEV)
        return Fatal("This kernel gives no call stacks of its events.");
    if (errno == EMFILE)
        return Fatal("Events on so many CPUs take more files than may be open: raise `ulimit -n`.");
    return Fatal::with_errno("The kernel refuses call stacks of events");
}

}  // namespace

perf_event_attr tracepoint_attributes(const Wanted& wanted, Taken taken) {
    perf_event_attr attributes =
        taken == Taken::stacks ? copying_attributes(copied_bytes) : registering_attributes();
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.config = wanted.number;
    attributes.sample_period = 1;
    if (!wanted.is_probe) {
        attributes.disabled = 1;
        attributes.enable_on_exec = 1;
        attributes.inherit = 1;
    }
    attributes.watermark = 1;
    attributes.wakeup_watermark = wakeup_bytes;
    return attributes;
}

Tracepoint::Tracepoint(const Wanted& wanted, Watched watched, Taken taken,
                       const Tracepoint* first) {
    perf_event_attr attributes = tracepoint_attributes(wanted, taken);
    file_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes,
                                     wanted.is_probe ? -1 : watched.thread, watched.cpu, -1,
                                     PERF_FLAG_FD_CLOEXEC));
    if (file_ < 0)
        throw refusal();
    try {
        set_up(wanted, first);
    } catch (const Fatal&) {
        close(file_);
        throw;
    }
}

void Tracepoint::set_up(const Wanted& wanted, const Tracepoint* first) {
    if (!wanted.filter.empty() &&
        ioctl(file_, PERF_EVENT_IOC_SET_FILTER, wanted.filter.c_str()) != 0)
        throw Fatal::with_errno("The kernel refuses the filter '" + wanted.filter + "'");
    if (first == nullptr)
        ring_ = std::make_unique<Ring>(file_, ring_pages);
    else if (ioctl(file_, PERF_EVENT_IOC_SET_OUTPUT, first->file()) != 0)
        throw Fatal::with_errno("The kernel does not put the stacks of events together");
}

Tracepoint::~Tracepoint() {
    ring_.reset();
    close(file_);
}

std::uint64_t Tracepoint::identity() const {
    std::uint64_t identity = 0;
    if (ioctl(file_, PERF_EVENT_IOC_ID, &identity) != 0)
        throw Fatal::with_errno("The kernel does not tell one event from another");
    return identity;
}

}  // namespace steelyard
