#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <string>

#include "fatal.hpp"
#include "sampler.hpp"

namespace steelyard {

namespace {

constexpr std::uint64_t nanoseconds = 1'000'000'000;

std::uint64_t thread_time_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * nanoseconds +
           static_cast<std::uint64_t>(now.tv_nsec);
}

std::vector<int> online_cpus() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    std::vector<int> cpus;
    const long configured = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < configured; ++cpu) {
        const std::string path =
            "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/core_id";
        if (cpu == 0 || access(path.c_str(), F_OK) == 0)
            cpus.push_back(cpu);
    }
    return cpus;
}

/// One CPU: its events and the thread that serves them.
class CpuWatch {
  public:
    CpuWatch(const Sampling& sampling, Recording& recording, int cpu, int ending)
        : sampling_(sampling),
          recording_(recording),
          cpu_(cpu),
          ending_(ending),
          intervals_(sampling.spread, sampling.period_ns, sampling.ratio,
                     sampling.seed + static_cast<std::uint64_t>(cpu)),
          tracking_({-1, cpu}, true),
          event_({-1, cpu}, sampling.clock, sampling.depth, true) {}

    void begin() {
        thread_ = std::thread([this] {
            try {
                serve();
            } catch (...) {
                failure_ = std::current_exception();
                has_failed_ = true;
            }
        });
    }

    void join() {
        if (thread_.joinable())
            thread_.join();
        if (failure_)
            std::rethrow_exception(failure_);
    }

    std::uint64_t handling_ns() const { return handling_ns_; }
    bool failed() const { return has_failed_; }

  private:
    void serve() {
        stay_on_cpu();
        if (sampling_.spread == Spread::fixed)
            event_.run_fixed(intervals_.next_ns());
        else
            event_.arm(intervals_.next_ns());
        std::array<pollfd, 3> files{pollfd{event_.file(), POLLIN, 0},
                                    pollfd{tracking_.file(), POLLIN, 0},
                                    pollfd{ending_, POLLIN, 0}};
        while ((files[2].revents & POLLIN) == 0) {
            poll(files.data(), files.size(), -1);
            if (drain() && sampling_.spread != Spread::fixed)
                event_.arm(intervals_.next_ns());
            handling_ns_ = thread_time_ns();
        }
        drain();
    }

    /// Takes what is in the rings; whether a sample was there.
    bool drain() {
        tracking_.ring().drain(
            [this](const RawRecord& record) { recording_.take(happening_from(record)); });
        bool sampled = false;
        event_.ring().drain([this, &sampled](const RawRecord& record) {
            if (record.header->type != PERF_RECORD_SAMPLE) {
                recording_.take(happening_from(record));
                return;
            }
            sampled = true;
            if (const auto sample = sample_from(record, sampling_.depth))
                recording_.take(*sample);
        });
        return sampled;
    }

    /// Runs on the watched CPU and before everything else there, where that is allowed.
    void stay_on_cpu() const {
        cpu_set_t here;
        CPU_ZERO(&here);
        CPU_SET(static_cast<std::size_t>(cpu_), &here);
        if (sched_setaffinity(0, sizeof here, &here) != 0)
            throw Fatal::with_errno("The sampler cannot run on CPU " + std::to_string(cpu_));
        sched_param first{};
        first.sched_priority = sched_get_priority_min(SCHED_FIFO);
        pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
    }

    const Sampling& sampling_;
    Recording& recording_;
    int cpu_;
    int ending_;
    Intervals intervals_;
    TrackingEvent tracking_;
    SamplingEvent event_;
    std::thread thread_;
    std::exception_ptr failure_;
    std::atomic<bool> has_failed_ = false;
    std::atomic<std::uint64_t> handling_ns_ = 0;
};

class CpuSampler : public Sampler {
  public:
    CpuSampler(const Sampling& sampling, Recording& recording)
        : sampling_(sampling), ending_(eventfd(0, EFD_CLOEXEC)) {
        for (const int cpu : online_cpus())
            watches_.push_back(std::make_unique<CpuWatch>(sampling_, recording, cpu, ending_));
    }

    ~CpuSampler() override {
        end();
        close(ending_);
    }

    void start() override {
        for (const auto& watch : watches_)
            watch->begin();
    }

    void stop() override {
        end();
        for (const auto& watch : watches_)
            watch->join();
    }

    std::uint64_t handling_ns() const override {
        std::uint64_t sum_ns = 0;
        for (const auto& watch : watches_)
            sum_ns += watch->handling_ns();
        return sum_ns;
    }

    const char* scope() const override { return "cpus"; }

    bool failed() const override {
        for (const auto& watch : watches_) {
            if (watch->failed())
                return true;
        }
        return false;
    }

  private:
    void end() const {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = write(ending_, &one, sizeof one);
    }

    Sampling sampling_;
    int ending_;
    std::vector<std::unique_ptr<CpuWatch>> watches_;
};

}  // namespace

std::unique_ptr<Sampler> cpu_sampler(const Sampling& sampling, Recording& recording) {
    return std::make_unique<CpuSampler>(sampling, recording);
}

}  // namespace steelyard
