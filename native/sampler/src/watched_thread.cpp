#include "watched_thread.hpp"

#include <algorithm>
#include <limits>

#include "fatal.hpp"

namespace steelyard {

namespace {

// The kernel's timer takes no time nearer than this (perf_swevent_start_hrtimer): a look that is
// due sooner comes so long after a thread goes on, where one that lives no longer always is.
constexpr std::uint64_t nearest_ns = 10'000;

}  // namespace

WatchedThread::WatchedThread(pid_t thread, const Sampling& sampling, bool kernel,
                             const WalkFilter* filter)
    : clock_(thread, CountingEvent::Scope::thread, kernel, sampling.clock),
      time_(sampling.clock == Clock::software
                ? nullptr
                : std::make_unique<CountingEvent>(thread, CountingEvent::Scope::thread, kernel)),
      samples_({thread, -1, clock_.file()}, sampling.clock, sampling.depth, kernel),
      // Of what a filter drops nothing is heard: only the event's own time tells.
      looks_everywhere_((kernel || sampling.spread == Spread::fixed) &&
                        (filter == nullptr || !filter->parts())),
      period_(static_cast<std::uint64_t>(sampling.period_ns)) {
    if (filter == nullptr)
        return;
    const bool is_rest = filter->parts() && !sampling.depth.stack_copy;
    const bool is_taken =
        is_rest ? filter->attach_rest(samples_.file()) : filter->attach(samples_.file());
    // A kernel that does not take what spares copies each stack. Of two that part looks both would
    // have them all.
    if (!is_taken && filter->parts())
        throw Fatal::with_errno("The kernel parts no looks of perf_event_open");
}

void WatchedThread::begin(Intervals& intervals) {
    if (intervals.spread() == Spread::fixed) {
        samples_.run(intervals.next_ns());
        armed_ = std::numeric_limits<std::uint64_t>::max();
    } else {
        sample_once(first_ns(intervals));
    }
    const auto [all, sampled] = clock_.counts();
    before_ = all - std::min(all, sampled);
    then_ = {before_, 0};
    if (intervals.spread() != Spread::fixed)
        before_ += nearest_ns;
}

bool WatchedThread::go_on(Intervals& intervals) {
    // Read once: whatever runs after it is part of the next interval.
    const CountingEvent::Counts now = clock_.counts();
    const std::uint64_t passed = passed_until(now);
    const std::uint64_t interval = intervals.next_ns();
    const bool in_time = passed < interval;
    then_ = now;
    const std::uint64_t next = in_time ? interval - passed : first_ns(intervals);
    // So that each sample stands for the interval after it, and for nothing else.
    if (!in_time)
        missed_ += passed - interval + next;
    sample_once(next);
    return in_time;
}

std::uint64_t WatchedThread::first_ns(Intervals& intervals) {
    return nearest_ns + intervals.first_ns();
}

void WatchedThread::sample_once(std::uint64_t interval) {
    samples_.sample_once(interval);
    armed_ = interval;
}

std::uint64_t WatchedThread::passed_until(CountingEvent::Counts now) const {
    const std::uint64_t ran = now.all - std::min(now.all, then_.all);
    const std::uint64_t looked_for = now.led - std::min(now.led, then_.led);
    const std::uint64_t spent = looks_everywhere_ ? armed_ : looked_for;
    return ran - std::min(ran, spent);
}

Watching WatchedThread::watching() const {
    const CountingEvent::Counts now = clock_.counts();
    if (now.all == 0)
        return {};
    // It may wait to be armed, or have ended so: the next look would come after a period or so.
    const std::uint64_t missed = missed_ + passed_until(now) - std::min(passed_until(now), period_);
    const auto all = static_cast<double>(now.all);
    // Of cycles the parts are taken of the time, too.
    const double all_ns = time_ ? static_cast<double>(time_->count()) : all;
    const double missed_ratio = static_cast<double>(missed) / all;
    const double rest_ratio = static_cast<double>(before_) / all + missed_ratio;
    return {static_cast<std::uint64_t>(all_ns * (1 - std::min(1.0, rest_ratio))),
            static_cast<std::uint64_t>(all_ns * missed_ratio)};
}

}  // namespace steelyard
