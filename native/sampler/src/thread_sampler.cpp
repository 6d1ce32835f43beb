#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "clock.hpp"
#include "cpus.hpp"
#include "fatal.hpp"
#include "inheriting_mutex.hpp"
#include "sampler.hpp"

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
          intervals_(sampling.spread, sampling.period_ns, sampling.ratio, sampling.seed),
          epoll_(epoll_create1(EPOLL_CLOEXEC)),
          ending_(eventfd(0, EFD_CLOEXEC)) {
        wait_for(ending_, ending_key);
        // An inherited event needs a ring for each CPU.
        const std::vector<int> cpus = online_cpus();
        for (const pid_t process : processes) {
            for (const pid_t thread : threads_of(process)) {
                count(thread);
                for (const int cpu : cpus)
                    track({thread, cpu});
                watch(thread);
            }
        }
        if (watched_.empty())
            throw Fatal("There is no process " + std::to_string(processes.front()) +
                        " that may be watched.");
    }

    ~ThreadSampler() override {
        end();
        if (thread_.joinable())
            thread_.join();
        close(epoll_);
        close(ending_);
    }

    void start() override {
        thread_ = std::thread([this] {
            try {
                serve();
            } catch (...) {
                failure_ = std::current_exception();
                has_failed_ = true;
            }
        });
    }

    void stop() override {
        end();
        if (thread_.joinable())
            thread_.join();
        if (failure_)
            std::rethrow_exception(failure_);
    }

    std::optional<Coverage> coverage() override {
        if (!is_counted_)
            return std::nullopt;
        const std::scoped_lock lock(mutex_);
        Coverage found{0, gone_ns_};
        for (const auto& whole : whole_)
            found.program_ns += whole->count_ns();
        for (const auto& [thread, watch] : watched_)
            found.watched_ns += watch.time->count_ns();
        return found;
    }

    std::uint64_t handling_ns() const override { return handling_ns_; }
    std::uint64_t unwatched() const override { return unwatched_; }
    const char* scope() const override { return "threads"; }
    bool failed() const override { return has_failed_; }

  private:
    // Threads have positive numbers.
    static constexpr std::uint64_t ending_key = 1ULL << 63;
    static constexpr std::uint64_t tracking_key = 1ULL << 62;

    struct Watch {
        std::unique_ptr<SamplingEvent> samples;
        std::unique_ptr<CountingEvent> time;
    };

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

    void track(Watched watched) {
        const auto& tracking =
            tracking_.emplace_back(std::make_unique<TrackingEvent>(watched, kernel_));
        wait_for(tracking->file(), tracking_key | (tracking_.size() - 1));
    }

    void watch(pid_t thread) {
        try {
            // First the time: what is sampled is counted.
            Watch watch{nullptr, std::make_unique<CountingEvent>(
                                     thread, CountingEvent::Scope::thread, kernel_)};
            watch.samples = std::make_unique<SamplingEvent>(Watched{thread, -1}, sampling_.clock,
                                                            sampling_.depth, kernel_);
            wait_for(watch.samples->file(), static_cast<std::uint64_t>(thread));
            if (sampling_.spread == Spread::fixed)
                watch.samples->run(intervals_.next_ns());
            else
                watch.samples->sample_once(intervals_.first_ns());
            watched_.emplace(thread, std::move(watch));
        } catch (const Fatal&) {
            // Gone already, or there are more threads than rings are allowed.
            if (watched_.empty())
                throw;
            ++unwatched_;
        }
    }

    /// Arms an event that has sampled. It was off since then, which its next interval includes, so
    /// that threads are sampled as often as those that end before their first sample.
    void arm(SamplingEvent& event, std::uint64_t sampled_ns) {
        const std::uint64_t off_ns = monotonic_ns() - sampled_ns;
        const std::uint64_t interval_ns = intervals_.next_ns();
        event.sample_once(interval_ns - std::min(interval_ns - 1, off_ns));
    }

    void serve() {
        std::array<epoll_event, events_at_once> ready{};
        bool ending = false;
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
                else
                    serve_thread(static_cast<pid_t>(key), (event.events & EPOLLHUP) != 0);
            }
            handling_ns_ = thread_time_ns();
        }
        const std::scoped_lock lock(mutex_);
        drain_tracking();
        for (auto& [thread, watch] : watched_)
            drain(*watch.samples);
    }

    /// Its thread has gone where it is over, and would be told of again and again.
    void serve_tracking(const TrackingEvent& tracking, bool over) {
        drain_tracking();
        if (over)
            epoll_ctl(epoll_, EPOLL_CTL_DEL, tracking.file(), nullptr);
    }

    void serve_thread(pid_t thread, bool gone) {
        const auto found = watched_.find(thread);
        if (found == watched_.end())
            return;
        drain_tracking();
        const std::uint64_t sampled_ns = drain(*found->second.samples);
        if (gone) {
            gone_ns_ += found->second.time->count_ns();
            watched_.erase(found);
        } else if (sampled_ns != 0 && sampling_.spread != Spread::fixed) {
            arm(*found->second.samples, sampled_ns);
        }
    }

    /// When the last sample was taken; 0: there was none.
    std::uint64_t drain(SamplingEvent& event) {
        std::uint64_t sampled_ns = 0;
        event.ring().drain([this, &sampled_ns](const RawRecord& record) {
            if (record.header->type != PERF_RECORD_SAMPLE) {
                // The sample may be what was lost.
                sampled_ns = monotonic_ns();
                recording_.take(happening_from(record));
            } else if (const auto sample = sample_from(record, sampling_.depth)) {
                sampled_ns = sample->time_ns;
                recording_.take(*sample);
            }
        });
        return sampled_ns;
    }

    void drain_tracking() {
        std::vector<pid_t> started;
        for (const auto& tracking : tracking_) {
            tracking->ring().drain([this, &started](const RawRecord& record) {
                const Happening happening = happening_from(record);
                recording_.take(happening);
                if (const auto* life = std::get_if<Started>(&happening))
                    started.push_back(static_cast<pid_t>(life->thread));
            });
        }
        for (const pid_t thread : started) {
            if (!watched_.contains(thread))
                watch(thread);
        }
    }

    void end() const {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = write(ending_, &one, sizeof one);
    }

    Sampling sampling_;
    Recording& recording_;
    bool kernel_;
    Intervals intervals_;
    int epoll_;
    int ending_;
    std::vector<std::unique_ptr<TrackingEvent>> tracking_;
    InheritingMutex mutex_;  // of what is watched, and how long that took
    std::unordered_map<pid_t, Watch> watched_;
    std::vector<std::unique_ptr<CountingEvent>> whole_;
    std::uint64_t gone_ns_ = 0;  // of threads that were watched to their end
    std::atomic<bool> is_counted_ = true;
    std::thread thread_;
    std::exception_ptr failure_;
    std::atomic<bool> has_failed_ = false;
    std::atomic<std::uint64_t> handling_ns_ = 0;
    std::atomic<std::uint64_t> unwatched_ = 0;
};

}  // namespace

std::unique_ptr<Sampler> thread_sampler(const Sampling& sampling, Recording& recording,
                                        const std::vector<pid_t>& processes, bool kernel) {
    return std::make_unique<ThreadSampler>(sampling, recording, processes, kernel);
}

}  // namespace steelyard
