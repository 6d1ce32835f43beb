#include <poll.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "cpus.hpp"
#include "fatal.hpp"
#include "mark_reader.hpp"
#include "sampler.hpp"
#include "sampling_clocks.hpp"
#include "serving_thread.hpp"

namespace steelyard {

namespace {

/// A program that samples its threads itself is told of by the kernel, and its samples are taken
/// from the ring.
class MarkSampler : public Sampler {
  public:
    MarkSampler(const Sampling& sampling, Recording& recording, pid_t process)
        : recording_(recording),
          marks_(sampling.marks),
          whole_(process, CountingEvent::Scope::descendants, false) {
        for (const int cpu : online_cpus())
            tracking_.push_back(std::make_unique<TrackingEvent>(Watched{process, cpu}, false));
    }

    void start() override {
        thread_.start([this] { serve(); });
    }

    void stop() override {
        thread_.stop();
        if (marks_.has_taken_signal())
            throw Fatal(
                "The program has wanted SIGSTKFLT for itself, by which marked calls are sampled.\n"
                "Record it with a map of the program without marks.");
        if (const int error = marks_.error(); error != 0 && recording_.samples() == 0)
            throw Fatal(std::string("The program may not sample itself (perf_event_open): ") +
                        std::strerror(error) + ".");
    }

    /// In user mode, of programs that have all loaded what samples them.
    std::optional<Coverage> coverage(std::uint64_t /*taken_ns*/) override {
        if (marks_.unwatched() != 0 || programs_ > marks_.programs())
            return std::nullopt;
        const std::uint64_t all = whole_.count();
        return Coverage{all, all - std::min(all, marks_.before_ns()), 0};
    }
    std::uint64_t handling_ns() const override { return handling_ns_; }
    std::uint64_t unwatched() const override { return marks_.unwatched(); }
    const char* scope() const override { return "threads"; }
    bool failed() const override { return thread_.failed(); }

  private:
    static constexpr int wait_ms = 20;

    void serve() {
        pollfd file{thread_.ending(), POLLIN, 0};
        while (file.revents == 0) {
            poll(&file, 1, wait_ms);
            drain();
            handling_ns_ = thread_time_ns();
        }
    }

    void drain() {
        // Samples first: what the kernel tells then has the mappings that these are in.
        std::vector<Sample> samples;
        marks_.drain([&samples](const Sample& sample) { samples.push_back(sample); });
        for (const auto& tracking : tracking_)
            tracking->ring().drain([this](const RawRecord& record) {
                const SideBandRecord told = side_band_record_from(record);
                const auto* const comm = std::get_if<Comm>(&told);
                programs_ += comm != nullptr && comm->after_exec ? 1 : 0;
                recording_.take(told);
            });
        for (const Sample& sample : samples)
            recording_.take(sample);
    }

    Recording& recording_;
    MarkReader marks_;
    CountingEvent whole_;
    std::vector<std::unique_ptr<TrackingEvent>> tracking_;
    std::atomic<std::uint64_t> programs_ = 0;
    std::atomic<std::uint64_t> handling_ns_ = 0;
    ServingThread thread_;
};

}  // namespace

std::unique_ptr<Sampler> mark_sampler(const Sampling& sampling, Recording& recording,
                                      pid_t process) {
    return std::make_unique<MarkSampler>(sampling, recording, process);
}

}  // namespace steelyard
