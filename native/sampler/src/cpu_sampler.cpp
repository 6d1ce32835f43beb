#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <set>
#include <span>
#include <string>

#include "cpus.hpp"
#include "fatal.hpp"
#include "priority.hpp"
#include "sampler.hpp"
#include "sampling_clocks.hpp"

namespace steelyard {

namespace {

// What else is opened while samples are taken: the next file of a profile, libraries to unwind.
constexpr std::size_t spare_files = 32;
// Of each CPU that are not for samples.
constexpr std::size_t own_files = 1;

/// Files that are left to be opened for samples of each of so many CPUs.
std::size_t files_for_each(std::size_t cpus) {
    namespace fs = std::filesystem;
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    const auto open = std::distance(fs::directory_iterator("/proc/self/fd"), {});
    const std::size_t taken = static_cast<std::size_t>(open) + spare_files + cpus * own_files;
    return files.rlim_cur > taken ? (files.rlim_cur - taken) / cpus : 0;
}

/// The unit of times in /proc.
std::uint64_t tick_ns() {
    return nanoseconds / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
}

/// For how long CPUs have idled, all together: the line "cpu" of /proc/stat, proc(5).
std::uint64_t idle_ns_so_far() {
    std::ifstream file("/proc/stat");
    std::string name;
    std::uint64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0;
    file >> name >> user >> nice >> system >> idle >> waiting;
    return (idle + waiting) * tick_ns();
}

/// One CPU: its events and the thread that serves them.
class CpuWatch : SampleSink {
  public:
    CpuWatch(const Sampling& sampling, Recording& recording, int cpu, std::size_t most_events,
             int ending)
        : depth_(sampling.depth),
          recording_(recording),
          cpu_(cpu),
          ending_(ending),
          tracking_({-1, cpu}, true),
          source_(cpu_source(cpu, sampling, most_events)) {}

    /// Once it was told to end: another one may have failed before this one was joined.
    ~CpuWatch() override {
        if (thread_.joinable())
            thread_.join();
    }
    CpuWatch(const CpuWatch&) = delete;
    CpuWatch& operator=(const CpuWatch&) = delete;

    /// Starts its thread, which tells when it samples, or has failed to.
    std::future<void> begin() {
        std::promise<void> beginning;
        auto begun = beginning.get_future();
        thread_ = std::thread([this, beginning = std::move(beginning)]() mutable {
            attempt([this] {
                stay_on_cpu();
                source_->start();
            });
            beginning.set_value();
            if (!has_failed_)
                attempt([this] { serve(); });
        });
        return begun;
    }

    void join() {
        if (thread_.joinable())
            thread_.join();
        if (failure_)
            std::rethrow_exception(failure_);
    }

    std::uint64_t handling_ns() const { return handling_ns_; }
    bool failed() const { return has_failed_; }
    Delays delays() const { return source_->delays(); }
    /// When its first sample can fall.
    std::uint64_t first_ns() const { return source_->first_ns(); }

  private:
    template <typename Action>
    void attempt(Action action) {
        try {
            action();
        } catch (...) {
            failure_ = std::current_exception();
            has_failed_ = true;
        }
    }

    void serve() {
        std::array<pollfd, 3> files{pollfd{source_->file(), POLLIN, 0},
                                    pollfd{tracking_.file(), POLLIN, 0},
                                    pollfd{ending_, POLLIN, 0}};
        while (files[2].revents == 0) {
            wait_for(files);
            take_side_band();
            source_->serve(*this);
            handling_ns_ = thread_time_ns();
        }
        take_side_band();
        source_->finish(*this);
    }

    void wait_for(std::span<pollfd> files) const {
        const std::uint64_t wake_ns = source_->wake_ns();
        const std::uint64_t left_ns = wake_ns - std::min(wake_ns, monotonic_ns());
        const timespec left{static_cast<time_t>(left_ns / nanoseconds),
                            static_cast<long>(left_ns % nanoseconds)};
        ppoll(files.data(), files.size(), wake_ns == 0 ? nullptr : &left, nullptr);
    }

    void take_side_band() {
        tracking_.ring().drain(
            [this](const RawRecord& record) { recording_.take(side_band_record_from(record)); });
    }

    void take(const RawRecord& record) override {
        if (record.header->type != PERF_RECORD_SAMPLE)
            recording_.take(side_band_record_from(record));
        else if (const auto sample = sample_from(record, depth_))
            recording_.take(*sample);
    }

    void take_unseen(std::uint64_t time_ns) override {
        recording_.take_look(time_ns, static_cast<std::uint32_t>(cpu_));
    }

    /// Runs before everything else, where that is allowed, and on the watched CPU: in this order,
    /// or the move waits until whatever is busy there has had its turn.
    void stay_on_cpu() const {
        sched_param first{};
        first.sched_priority = sched_get_priority_min(SCHED_FIFO);
        pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
        cpu_set_t here;
        CPU_ZERO(&here);
        CPU_SET(static_cast<std::size_t>(cpu_), &here);
        if (sched_setaffinity(0, sizeof here, &here) != 0)
            throw CpuTaken(
                Fatal::with_errno("The sampler cannot run on CPU " + std::to_string(cpu_)));
        go_before_others();
    }

    Depth depth_;
    Recording& recording_;
    int cpu_;
    int ending_;
    TrackingEvent tracking_;
    std::unique_ptr<SampleSource> source_;
    std::thread thread_;
    std::exception_ptr failure_;
    std::atomic<bool> has_failed_ = false;
    std::atomic<std::uint64_t> handling_ns_ = 0;
};

class CpuSampler : public Sampler {
  public:
    CpuSampler(const Sampling& sampling, Recording& recording)
        : recording_(recording),
          // Cycles are no time.
          period_ns_(sampling.clock == Clock::software ? sampling.period_ns : 0),
          cpus_(cpus_within_reach()),
          ending_(eventfd(0, EFD_CLOEXEC)) {
        const std::size_t most_events = files_for_each(cpus_.size());
        for (const int cpu : cpus_)
            watches_.push_back(watch_of(sampling, recording, cpu, most_events));
    }

    /// Its threads read of the end until they have ended.
    ~CpuSampler() override {
        end();
        watches_.clear();
        close(ending_);
    }

    void start() override {
        idle_before_ns_ = idle_ns_so_far();
        std::vector<std::future<void>> beginnings;
        beginnings.reserve(watches_.size());
        for (const auto& watch : watches_)
            beginnings.push_back(watch->begin());
        for (const auto& beginning : beginnings)
            beginning.wait();
        std::uint64_t first_ns = 0;
        for (const auto& watch : watches_)
            first_ns = std::max(first_ns, watch->first_ns());
        const std::uint64_t now_ns = monotonic_ns();
        if (first_ns > now_ns)
            std::this_thread::sleep_for(std::chrono::nanoseconds(first_ns - now_ns));
        looked_ns_ = monotonic_ns();
    }

    /// A cpuset may come to have more CPUs, and a program may go into another one.
    void look_around() override {
        std::set<int> outside;
        const auto add = [&](const std::vector<int>& cpus) {
            std::ranges::set_difference(cpus, cpus_, std::inserter(outside, outside.end()));
        };
        add(cpus_within_reach());
        for (const pid_t process : recording_.followed())
            add(cpus_of(process));
        const std::uint64_t now_ns = monotonic_ns();
        outside_ns_ += outside.size() * (now_ns - looked_ns_);
        looked_ns_ = now_ns;
    }

    /// What may have passed on CPUs that are not watched: no more than these had, nor, but for
    /// chance, than the samples do not stand for.
    std::optional<Coverage> coverage(std::uint64_t taken_ns) override {
        if (outside_ns_ == 0)
            return std::nullopt;
        const auto samples = static_cast<double>(recording_.samples());
        const auto seen_ns = static_cast<std::uint64_t>(samples * period_ns_);
        if (taken_ns == 0)
            return Coverage{seen_ns + outside_ns_, seen_ns, 0};
        constexpr double deviations = 3;
        const auto chance_ns =
            static_cast<std::uint64_t>(deviations * std::sqrt(samples + 1) * period_ns_);
        const std::uint64_t unseen_ns = taken_ns - std::min(taken_ns, seen_ns) + chance_ns;
        const std::uint64_t missed_ns = std::min({outside_ns_, unseen_ns, taken_ns});
        return Coverage{taken_ns, taken_ns - missed_ns, 0};
    }

    void stop() override {
        look_around();
        end();
        for (const auto& watch : watches_)
            watch->join();
        idle_ns_ = idle_ns_so_far() - idle_before_ns_ + tick_ns();
    }

    std::uint64_t handling_ns() const override {
        std::uint64_t sum_ns = 0;
        for (const auto& watch : watches_)
            sum_ns += watch->handling_ns();
        return sum_ns;
    }

    Delays delays() const override {
        Delays sum;
        for (const auto& watch : watches_) {
            sum.late += watch->delays().late;
            sum.unseen += watch->delays().unseen;
        }
        return sum;
    }

    std::uint64_t idle_ns() const override { return idle_ns_; }
    const char* scope() const override { return "cpus"; }

    bool failed() const override {
        for (const auto& watch : watches_) {
            if (watch->failed())
                return true;
        }
        return false;
    }

  private:
    std::unique_ptr<CpuWatch> watch_of(const Sampling& sampling, Recording& recording, int cpu,
                                       std::size_t most_events) const {
        try {
            return std::make_unique<CpuWatch>(sampling, recording, cpu, most_events, ending_);
        } catch (const Fatal& fatal) {
            // The kernel says of events on a CPU that was switched off what it says of unknown
            // ones.
            if (!std::ranges::binary_search(cpus_within_reach(), cpu))
                throw CpuTaken(fatal);
            throw;
        }
    }

    void end() const {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = write(ending_, &one, sizeof one);
    }

    Recording& recording_;
    double period_ns_;
    std::vector<int> cpus_;
    int ending_;
    std::vector<std::unique_ptr<CpuWatch>> watches_;
    std::uint64_t looked_ns_ = 0;
    // Of CPUs that are not watched and where the program may have run.
    std::uint64_t outside_ns_ = 0;
    std::uint64_t idle_before_ns_ = 0;
    std::uint64_t idle_ns_ = 0;
};

}  // namespace

std::unique_ptr<Sampler> cpu_sampler(const Sampling& sampling, Recording& recording) {
    return std::make_unique<CpuSampler>(sampling, recording);
}

}  // namespace steelyard
