#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cpus.hpp"
#include "fatal.hpp"
#include "inheriting_mutex.hpp"
#include "priority.hpp"
#include "sampler.hpp"
#include "sampling_clocks.hpp"
#include "serving_thread.hpp"
#include "watched_thread.hpp"

namespace steelyard {

namespace {

constexpr int events_at_once = 64;

class ThreadSampler : public Sampler {
  public:
    ThreadSampler(const Sampling& sampling, Recording& recording,
                  const std::vector<pid_t>& processes, bool kernel)
        : sampling_(sampling),
          recording_(recording),
          kernel_(kernel),
          copying_(copying(sampling)),
          intervals_(sampling.spread, sampling.period_ns, sampling.ratio, sampling.seed),
          processes_(processes),
          cpus_(online_cpus()),
          epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        wait_for(thread_.ending(), ending_key);
        for (const pid_t process : processes_) {
            for (const pid_t thread : threads_of(process))
                begin_with(process, thread);
        }
        if (watched_.empty())
            throw Fatal("There is no process " + std::to_string(processes.front()) +
                        " that may be watched.");
    }

    ~ThreadSampler() override {
        thread_.end();
        close(epoll_);
    }

    void start() override {
        thread_.start([this] {
            if (sampling_.is_urgent)
                go_before_others();
            serve();
        });
    }

    void stop() override { thread_.stop(); }

    std::optional<Coverage> coverage(std::uint64_t taken_ns) override {
        if (!is_counted_)
            return std::nullopt;
        const std::scoped_lock lock(mutex_);
        Coverage found = gone_;
        for (const auto& whole : whole_)
            found.program_ns += whole->count();
        for (const auto& [number, thread] : watched_)
            add(thread->watching(), found);
        // What runs as another user is not counted with the rest, but with what was waited for.
        if (taken_ns > found.program_ns + found.program_ns / other_users_ratio + start_ns)
            found.program_ns = taken_ns;
        return found;
    }

    std::uint64_t handling_ns() const override { return handling_ns_; }
    std::uint64_t unwatched() const override { return unwatched_; }
    Delays delays() const override { return {late_, 0}; }
    const char* scope() const override { return "threads"; }
    bool failed() const override { return thread_.failed(); }

  private:
    // Threads have positive numbers.
    static constexpr std::uint64_t ending_key = 1ULL << 63;
    static constexpr std::uint64_t tracking_key = 1ULL << 62;
    static constexpr std::uint64_t copying_key = 1ULL << 61;
    using Threads = std::unordered_map<pid_t, std::unique_ptr<WatchedThread>>;
    // Processor time of a program before it begins, and what more than a twentieth beside it is.
    static constexpr std::uint64_t start_ns = 20'000'000;
    static constexpr std::uint64_t other_users_ratio = 20;

    static void add(Watching watching, Coverage& coverage) {
        coverage.watched_ns += watching.watched_ns;
        coverage.missed_ns += watching.missed_ns;
    }

    /// Counts the time of a thread and of all that it starts, watched or not.
    void count(pid_t thread) {
        try {
            whole_.push_back(std::make_unique<CountingEvent>(
                thread, CountingEvent::Scope::descendants, kernel_));
        } catch (const Fatal&) {
            is_counted_ = false;
        }
    }

    void wait_for(int file, std::uint64_t key) const {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = key;
        if (epoll_ctl(epoll_, EPOLL_CTL_ADD, file, &event) != 0)
            throw Fatal::with_errno("The sampler cannot wait for samples");
    }

    /// Whether a thread is tracked on all CPUs; not where it ended since it was listed.
    bool track_on(const std::vector<int>& cpus, pid_t process, pid_t thread) {
        try {
            for (const int cpu : cpus)
                track({thread, cpu});
        } catch (const Fatal&) {
            if (tgkill(process, thread, 0) == 0 || errno != ESRCH)
                throw;
            return false;
        }
        return true;
    }

    void track(Watched watched) {
        const auto& tracking =
            tracking_.emplace_back(std::make_unique<TrackingEvent>(watched, kernel_));
        wait_for(tracking->file(), tracking_key | (tracking_.size() - 1));
    }

    void begin_with(pid_t process, pid_t thread) {
        seen_.insert(thread);
        count(thread);
        // An inherited event needs a ring for each CPU.
        if (track_on(cpus_, process, thread))
            watch(thread);
    }

    /// Threads that began after the list was taken, and before who began them was tracked.
    void begin_with_later_ones() {
        for (bool more = true; more;) {
            more = false;
            for (const pid_t process : processes_) {
                const std::vector<pid_t> threads = threads_of(process);
                // Those that are tracked by inheritance tell of themselves.
                drain_tracking();
                for (const pid_t thread : threads) {
                    if (seen_.contains(thread))
                        continue;
                    more = true;
                    try {
                        begin_with(process, thread);
                    } catch (const Fatal&) {
                        ++unwatched_;
                    }
                }
            }
        }
    }

    void watch(pid_t number) {
        try {
            if (recording_.parts_looks())
                begin(number, copying_, copied_, copying_key);
            begin(number, sampling_, watched_, 0);
        } catch (const Fatal&) {
            // Gone already, or there are more threads than rings are allowed.
            copied_.erase(number);
            if (watched_.empty())
                throw;
            ++unwatched_;
        }
    }

    void begin(pid_t number, const Sampling& sampling, Threads& threads, std::uint64_t key) {
        auto thread =
            std::make_unique<WatchedThread>(number, sampling, kernel_, recording_.walk_filter());
        wait_for(thread->samples().file(), key | static_cast<std::uint64_t>(number));
        thread->begin(intervals_);
        threads.emplace(number, std::move(thread));
    }

    /// The same with the stack.
    static Sampling copying(Sampling sampling) {
        sampling.depth.stack_copy = true;
        return sampling;
    }

    void serve() {
        std::array<epoll_event, events_at_once> ready{};
        bool ending = false;
        {
            const std::scoped_lock lock(mutex_);
            begin_with_later_ones();
        }
        while (!ending) {
            const int count = epoll_wait(epoll_, ready.data(), events_at_once, -1);
            const std::scoped_lock lock(mutex_);
            for (int at = 0; at < count; ++at) {
                const epoll_event& event = ready[static_cast<std::size_t>(at)];
                const std::uint64_t key = event.data.u64;
                if (key == ending_key)
                    ending = true;
                else if ((key & tracking_key) != 0)
                    serve_tracking(*tracking_[key & ~tracking_key], (event.events & EPOLLHUP) != 0);
                else if ((key & copying_key) != 0)
                    serve_copied(static_cast<pid_t>(key & ~copying_key),
                                 (event.events & EPOLLHUP) != 0);
                else
                    serve_thread(static_cast<pid_t>(key), (event.events & EPOLLHUP) != 0);
            }
            handling_ns_ = thread_time_ns();
        }
        const std::scoped_lock lock(mutex_);
        drain_tracking();
        for (auto& [number, thread] : watched_)
            drain(thread->samples(), sampling_.depth);
        for (auto& [number, thread] : copied_)
            drain(thread->samples(), copying_.depth);
    }

    /// Its thread has gone where it is over, and would be told of again and again.
    void serve_tracking(const TrackingEvent& tracking, bool over) {
        drain_tracking();
        if (over)
            epoll_ctl(epoll_, EPOLL_CTL_DEL, tracking.file(), nullptr);
    }

    void serve_thread(pid_t number, bool gone) {
        const auto found = watched_.find(number);
        if (found == watched_.end())
            return;
        drain_tracking();
        WatchedThread& thread = *found->second;
        const bool sampled = drain(thread.samples(), sampling_.depth);
        if (gone) {
            add(thread.watching(), gone_);
            watched_.erase(found);
        } else if (sampled && sampling_.spread != Spread::fixed && !thread.go_on(intervals_)) {
            ++late_;
        }
    }

    /// The same of the looks that copy the stack; the others say how much of it was watched.
    void serve_copied(pid_t number, bool gone) {
        const auto found = copied_.find(number);
        if (found == copied_.end())
            return;
        drain_tracking();
        const bool sampled = drain(found->second->samples(), copying_.depth);
        if (gone)
            copied_.erase(found);
        else if (sampled && sampling_.spread != Spread::fixed && !found->second->go_on(intervals_))
            ++late_;
    }

    /// Whether there was a sample, or something was lost, which may have been one.
    bool drain(SamplingEvent& event, Depth depth) {
        bool sampled = false;
        event.ring().drain([this, depth, &sampled](const RawRecord& record) {
            if (record.header->type != PERF_RECORD_SAMPLE) {
                sampled = true;
                recording_.take(side_band_record_from(record));
            } else if (const auto sample = sample_from(record, depth)) {
                sampled = true;
                recording_.take(*sample);
            }
        });
        return sampled;
    }

    void drain_tracking() {
        std::vector<pid_t> started;
        for (const auto& tracking : tracking_) {
            tracking->ring().drain([this, &started](const RawRecord& raw) {
                const SideBandRecord record = side_band_record_from(raw);
                recording_.take(record);
                if (const auto* life = std::get_if<Started>(&record))
                    started.push_back(static_cast<pid_t>(life->thread));
            });
        }
        for (const pid_t thread : started) {
            seen_.insert(thread);
            if (!watched_.contains(thread))
                watch(thread);
        }
    }

    Sampling sampling_;
    Recording& recording_;
    bool kernel_;
    Sampling copying_;  // of looks that are parted, those that copy stacks
    Intervals intervals_;
    std::vector<pid_t> processes_;
    std::vector<int> cpus_;
    int epoll_;
    std::vector<std::unique_ptr<TrackingEvent>> tracking_;
    std::unordered_set<pid_t> seen_;
    InheritingMutex mutex_;  // of what is watched, and how long that took
    Threads watched_;
    Threads copied_;  // the same threads, where looks are parted
    std::vector<std::unique_ptr<CountingEvent>> whole_;
    Coverage gone_;  // of threads that were watched to their end
    std::atomic<bool> is_counted_ = true;
    std::atomic<std::uint64_t> handling_ns_ = 0;
    std::atomic<std::uint64_t> unwatched_ = 0;
    std::atomic<std::uint64_t> late_ = 0;
    ServingThread thread_;
};

}  // namespace

std::unique_ptr<Sampler> thread_sampler(const Sampling& sampling, Recording& recording,
                                        const std::vector<pid_t>& processes, bool kernel) {
    return std::make_unique<ThreadSampler>(sampling, recording, processes, kernel);
}

}  // namespace steelyard
