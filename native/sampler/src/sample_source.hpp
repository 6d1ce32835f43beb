// Samples of one CPU or thread at random times, by the kernel's events.

#pragma once

#include <memory>

#include "event.hpp"
#include "intervals.hpp"
#include "timetable.hpp"

namespace steelyard {

struct Sampling {
    Clock clock = Clock::software;
    Depth depth;
    Spread spread = Spread::uniform;
    double period_ns = 1e6;
    double ratio = 1;
    std::uint64_t seed = 0;
    std::size_t round_samples = 1;  ///< of a round, where a period stays for one
    /// Whether the thread that watches threads goes before others. Beside a sampler of CPUs it may
    /// not: what that arms falls again and again while it waits.
    bool is_urgent = true;
    /// Where the program puts the samples that it takes of itself; empty: it takes none.
    std::string marks;
};

/// Takes what looks gave.
class SampleSink {
  public:
    virtual ~SampleSink() = default;
    virtual void take(const RawRecord& record) = 0;
    /// Of a look the kernel gave no sample: some kernels give none of an idle CPU.
    virtual void take_unseen(std::uint64_t time_ns) = 0;
};

/// Is served by one thread, when there is something to read from its file, or it asked for it.
class SampleSource {
  public:
    virtual ~SampleSource() = default;

    /// Begins to sample.
    virtual void start() = 0;
    /// Hands over what has come, and sees to it that more comes.
    virtual void serve(SampleSink& sink) = 0;
    /// Hands over what has come; nothing more comes.
    virtual void finish(SampleSink& sink) = 0;

    virtual int file() const = 0;
    /// When to serve it even if there is nothing to read, by CLOCK_MONOTONIC; 0: never.
    virtual std::uint64_t wake_ns() const { return 0; }
    /// When the first sample can fall, by CLOCK_MONOTONIC, once it was started; 0: at any time.
    virtual std::uint64_t first_ns() const { return 0; }
    virtual Delays delays() const { return {}; }
};

/// The times between samples of a CPU: a stream of its own, which is none of another CPU's in a
/// recording with a seed near this one either.
Intervals intervals_of(int cpu, const Sampling& sampling);

/// Samples of a CPU; is served on that CPU. They are drawn in rounds where that spares time, and
/// else each when the one before was handled; a fixed period is left to the kernel. Rounds are so
/// short that all takes at most `most_events`, each of which is an open file.
std::unique_ptr<SampleSource> cpu_source(int cpu, const Sampling& sampling,
                                         std::size_t most_events);

}  // namespace steelyard
