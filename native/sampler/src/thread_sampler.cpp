#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <unordered_map>
#include <vector>

#include "clock.hpp"
#include "cpus.hpp"
#include "fatal.hpp"
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

    std::uint64_t handling_ns() const override { return handling_ns_; }
    std::uint64_t unwatched() const override { return unwatched_; }
    const char* scope() const override { return "threads"; }
    bool failed() const override { return has_failed_; }

  private:
    // Threads have positive numbers.
    static constexpr std::uint64_t ending_key = 1ULL << 63;
    static constexpr std::uint64_t tracking_key = 1ULL << 62;

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
            auto event = std::make_unique<SamplingEvent>(Watched{thread, -1}, sampling_.clock,
                                                         sampling_.depth, kernel_);
            wait_for(event->file(), static_cast<std::uint64_t>(thread));
            arm(*event);
            watched_.emplace(thread, std::move(event));
        } catch (const Fatal&) {
            // Gone already, or there are more threads than rings are allowed.
            if (watched_.empty())
                throw;
            ++unwatched_;
        }
    }

    void arm(SamplingEvent& event) {
        if (sampling_.spread == Spread::fixed)
            event.run(intervals_.next_ns());
        else
            event.sample_once(intervals_.next_ns());
    }

    void serve() {
        std::array<epoll_event, events_at_once> ready{};
        bool ending = false;
        while (!ending) {
            const int count = epoll_wait(epoll_, ready.data(), events_at_once, -1);
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
        drain_tracking();
        for (auto& [thread, event] : watched_)
            drain(*event);
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
        const bool sampled = drain(*found->second);
        if (gone)
            watched_.erase(found);
        else if (sampled && sampling_.spread != Spread::fixed)
            arm(*found->second);
    }

    bool drain(SamplingEvent& event) {
        bool sampled = false;
        event.ring().drain([this, &sampled](const RawRecord& record) {
            sampled = true;
            if (record.header->type != PERF_RECORD_SAMPLE)
                recording_.take(happening_from(record));
            else if (const auto sample = sample_from(record, sampling_.depth))
                recording_.take(*sample);
        });
        return sampled;
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
    std::unordered_map<pid_t, std::unique_ptr<SamplingEvent>> watched_;
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
