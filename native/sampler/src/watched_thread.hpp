// A thread that is sampled by its own processor time, and how much of that was.

#pragma once

#include <cstdint>
#include <memory>

#include "counting.hpp"
#include "event.hpp"
#include "sample_source.hpp"
#include "walk_filter.hpp"

namespace steelyard {

/// How much of a thread's processor time was watched, and how much of the rest was missed since.
struct Watching {
    std::uint64_t watched_ns = 0;
    std::uint64_t missed_ns = 0;
};

/// Samples a thread, each time anew where the times are random. From a sample to the next arming
/// the event is off, and the kernel's timer comes some 20 us late. The next interval has begun by
/// then: what the thread ran meanwhile is taken from it, by the thread's own time, so that how long
/// the sampler itself waited for a processor makes no sample come sooner. Where the thread ran for
/// longer than the interval, the look was missed: the next is drawn as from any moment, since one
/// at once would fall where the program lets others run. What passed from the missed look until
/// then does not count as watched, and neither does what runs before the first look can come.
class WatchedThread {
  public:
    /// `filter`: is asked before each sample, where there is one; of one that parts looks, for the
    /// event that copies stacks where `sampling` says so, and else for the rest.
    /// Throws Fatal where the thread is gone, or there are more than the kernel allows.
    WatchedThread(pid_t thread, const Sampling& sampling, bool kernel,
                  const WalkFilter* filter = nullptr);

    /// Samples from now on: always after a period where that is fixed, else once.
    void begin(Intervals& intervals);
    /// Arms the next sample. Whether it was in time; if not, that look is missed.
    bool go_on(Intervals& intervals);

    /// Of its processor time, what was watched. Also after it has ended.
    Watching watching() const;
    SamplingEvent& samples() { return samples_; }

  private:
    /// From a moment at which no look was due.
    static std::uint64_t first_ns(Intervals& intervals);
    void sample_once(std::uint64_t interval);
    /// What the thread ran from when its last sample was due.
    std::uint64_t passed_until(CountingEvent::Counts now) const;

    CountingEvent clock_;                  // in the unit of intervals
    std::unique_ptr<CountingEvent> time_;  // where that is another one
    SamplingEvent samples_;
    bool looks_everywhere_;       // and not for another place where it finds the kernel
    std::uint64_t period_;        // the mean interval
    std::uint64_t before_ = 0;    // ran when no look could come yet
    std::uint64_t missed_ = 0;    // since then, after looks that were missed
    std::uint64_t armed_ = 0;     // the last interval asked for
    CountingEvent::Counts then_;  // when it was
};

}  // namespace steelyard
