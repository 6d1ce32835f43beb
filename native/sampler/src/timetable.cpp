#include "timetable.hpp"

#include <algorithm>

namespace steelyard {

namespace {

// What is armed late is armed for so long from then, or for a round where that is shorter, and
// nothing is armed for less than half of that. Until it is armed anew a timer falls again and again
// after that time: the nearest that the kernel takes, 10 us, may be all that an interrupt takes, so
// that the thread which would arm it anew has no processor any more.
constexpr double late_lead_ns = 10e6;
// The clock of samples may be off from the one that fires them while it is being adjusted.
constexpr std::uint64_t clock_error_ns = 1'000;
// What is armed now falls again after twice as long, so the first round needs its own length as a
// lead to have been armed anew by then. Half of it more leaves few that are not.
constexpr double lead_rounds = 1.5;

}  // namespace

Timetable::Timetable(Intervals intervals, std::size_t rounds, std::size_t round_samples,
                     std::size_t first_samples)
    : intervals_(intervals),
      round_samples_(round_samples),
      first_samples_(first_samples),
      next_samples_(first_samples),
      last_samples_(first_samples),
      planned_ns_(rounds * round_samples),
      rounds_(rounds) {}

void Timetable::start_from(std::uint64_t now_ns) {
    const double round_ns = intervals_.mean_ns() * static_cast<double>(first_samples_);
    first_ns_ = now_ns + static_cast<std::uint64_t>(lead_rounds * round_ns);
    last_ns_ = first_ns_;
}

std::uint64_t Timetable::plan(std::size_t slot, std::uint64_t now_ns) {
    const std::uint64_t interval_ns = intervals_.next_ns();
    const double round_ns = intervals_.mean_ns() * static_cast<double>(next_samples_);
    const auto lead_ns = static_cast<std::uint64_t>(std::min(round_ns, late_lead_ns));
    if (last_ns_ + interval_ns < now_ns + lead_ns / 2) {
        ++delays_.late;
        last_ns_ = now_ns + lead_ns + interval_ns;
    } else {
        last_ns_ += interval_ns;
    }
    planned_ns_[slot] = last_ns_;
    return last_ns_;
}

void Timetable::grow(std::size_t samples) {
    // A quarter less than the last two together, as rounds of as many samples last differently.
    const std::size_t both = last_samples_ + samples;
    last_samples_ = samples;
    next_samples_ = std::clamp(both - both / 4, samples, round_samples_);
}

bool Timetable::take(std::size_t slot, std::uint64_t time_ns) {
    const std::uint64_t planned_ns = planned_ns_[slot];
    if (planned_ns == 0 || time_ns + clock_error_ns < planned_ns)
        return false;
    planned_ns_[slot] = 0;
    --rounds_[slot / round_samples_].awaited;
    return true;
}

}  // namespace steelyard
