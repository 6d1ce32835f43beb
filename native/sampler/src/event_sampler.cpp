#include <linux/perf_event.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "cpus.hpp"
#include "fatal.hpp"
#include "priority.hpp"
#include "sampler.hpp"
#include "sampling_clocks.hpp"
#include "serving_thread.hpp"

namespace steelyard {

namespace {

/// What happens on one CPU to one thread and its descendants, or to all.
struct EventSource {
    std::unique_ptr<TrackingEvent> tracking;
    std::vector<std::unique_ptr<EventCounter>> counters;  // the first has the ring
};

class EventSampler : public Sampler {
  public:
    EventSampler(CountedEvents events, Recording& recording, const std::vector<pid_t>& processes,
                 bool started, Rights rights)
        : events_(std::move(events)), recording_(recording), started_(started), rights_(rights) {
        check_rights();
        for (const pid_t thread : watched_threads(processes))
            begin_with(thread);
    }

    void start() override {
        thread_.start([this] {
            go_before_others();
            serve();
        });
    }

    void stop() override { thread_.stop(); }

    std::uint64_t handling_ns() const override { return handling_ns_; }
    std::optional<Coverage> coverage(std::uint64_t) override { return std::nullopt; }
    const char* scope() const override { return "events"; }
    bool failed() const override { return thread_.failed(); }

  private:
    static constexpr pid_t everybody = -1;
    // What is in a ring below its mark waits so long.
    static constexpr int longest_wait_ms = 50;

    /// What happens in the kernel alone is not shown to who may not look there, and not refused.
    void check_rights() const {
        const bool is_kernels = std::ranges::any_of(events_.wanted, [](const CountedEvent& one) {
            return one.type == PERF_TYPE_SOFTWARE &&
                   (one.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                    one.config == PERF_COUNT_SW_CPU_MIGRATIONS);
        });
        if (is_kernels && !rights_.kernel)
            throw Fatal(
                "The kernel shows context switches and migrations to who may look into it.\n"
                "Record as root, or set sysctl kernel.perf_event_paranoid=1 (or less).");
    }

    /// Linux loses probes of a thread that has taken the events of another one over, which ended
    /// (trace_uprobe.c, 6.18), and threads of a process that runs begin while they are listed: so
    /// whole CPUs are watched there, by who may, and what is not the program's is left out.
    std::vector<pid_t> watched_threads(const std::vector<pid_t>& processes) const {
        const bool has_places = std::ranges::any_of(
            events_.wanted, [](const CountedEvent& one) { return one.is_place(); });
        if (rights_.whole_cpus && (has_places || !started_))
            return {everybody};
        std::vector<pid_t> found;
        for (const pid_t process : processes) {
            const auto threads = threads_of(process);
            found.insert(found.end(), threads.begin(), threads.end());
        }
        return found;
    }

    void begin_with(pid_t thread) {
        for (const int cpu : online_cpus()) {
            const Watched watched{thread, cpu};
            EventSource source{std::make_unique<TrackingEvent>(watched, rights_.kernel), {}};
            for (const CountedEvent& one : events_.wanted) {
                const auto* first =
                    source.counters.empty() ? nullptr : source.counters.front().get();
                source.counters.push_back(std::make_unique<EventCounter>(one, events_, watched,
                                                                         started_, rights_, first));
            }
            sources_.push_back(std::move(source));
        }
    }

    void serve() {
        std::vector<pollfd> files{{thread_.ending(), POLLIN, 0}};
        for (const EventSource& source : sources_) {
            files.push_back({source.tracking->file(), POLLIN, 0});
            files.push_back({source.counters.front()->file(), POLLIN, 0});
        }
        while ((files.front().revents & POLLIN) == 0) {
            poll(files.data(), files.size(), longest_wait_ms);
            for (pollfd& file : files)
                // Whose thread is gone says so again and again.
                if ((file.revents & POLLHUP) != 0)
                    file.fd = -1;
            drain();
            handling_ns_ = thread_time_ns();
        }
        drain();
    }

    /// What tells of processes goes first: it may have been written on another CPU.
    void drain() {
        for (const EventSource& source : sources_)
            source.tracking->ring().drain([this](const RawRecord& record) {
                recording_.take(side_band_record_from(record));
            });
        for (const EventSource& source : sources_)
            source.counters.front()->ring().drain([this](const RawRecord& record) {
                if (record.header->type != PERF_RECORD_SAMPLE)
                    recording_.take(side_band_record_from(record));
                else if (const auto sample = sample_from(record, events_.depth))
                    recording_.take_event(*sample);
            });
    }

    CountedEvents events_;
    Recording& recording_;
    bool started_;
    Rights rights_;
    std::vector<EventSource> sources_;
    std::atomic<std::uint64_t> handling_ns_ = 0;
    ServingThread thread_;
};

}  // namespace

std::unique_ptr<Sampler> event_sampler(const CountedEvents& events, Recording& recording,
                                       const std::vector<pid_t>& processes, bool started,
                                       Rights rights) {
    return std::make_unique<EventSampler>(events, recording, processes, started, rights);
}

}  // namespace steelyard
