#include "intervals.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "fatal.hpp"

namespace steelyard {

namespace {

// Two timers that are due within an interrupt see the program at the same place, as one. That takes
// some 12 us on a virtual machine; the kernel itself takes no time nearer than 10 us
// (perf_swevent_start_hrtimer).
constexpr double nearest_ns = 20'000;
constexpr int mantissa_bits = 53;
// A period that stays for a round does not become so short that its looks find one place.
constexpr double most_of_rounds = 0.5;

}  // namespace

Spread spread_from(std::string_view name) {
    if (name == "fixed")
        return Spread::fixed;
    if (name == "uniform")
        return Spread::uniform;
    if (name == "exponential")
        return Spread::exponential;
    if (name == "rounds")
        return Spread::rounds;
    throw Fatal("The sampler knows no spread '" + std::string(name) +
                "': it is uniform, exponential, rounds or fixed.");
}

Intervals::Intervals(Spread spread, double period_ns, double ratio, std::uint64_t seed)
    : spread_(spread),
      period_ns_(period_ns),
      nearest_ns_(std::min(nearest_ns, period_ns / 2)),
      ratio_(std::min(
          {ratio, 1 - nearest_ns_ / period_ns, spread == Spread::rounds ? most_of_rounds : 1.0})),
      state_(seed) {}

// SplitMix64: Steele, Lea and Flood, OOPSLA 2014, figure 17. Every seed gives a full period.
std::uint64_t Intervals::random_bits() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t bits = state_;
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31U);
}

double Intervals::random_share() {
    return static_cast<double>(random_bits() >> (64 - mantissa_bits)) *
           std::ldexp(1, -mantissa_bits);
}

std::uint64_t Intervals::next_ns() {
    double interval_ns = period_ns_;
    if (spread_ == Spread::uniform || spread_ == Spread::rounds)
        interval_ns = period_ns_ * (1 + ratio_ * (2 * random_share() - 1));
    if (spread_ == Spread::exponential)
        interval_ns = nearest_ns_ - (period_ns_ - nearest_ns_) * std::log1p(-random_share());
    return static_cast<std::uint64_t>(interval_ns);
}

// The forward recurrence time of a stationary renewal process: a random part of an interval that is
// met in proportion to its length (D. R. Cox, Renewal Theory, 1962, section 5.4).
std::uint64_t Intervals::first_ns() {
    double met_ns = period_ns_;
    if (spread_ == Spread::uniform || spread_ == Spread::rounds) {
        const double low_ns = period_ns_ * (1 - ratio_);
        const double high_ns = period_ns_ * (1 + ratio_);
        met_ns =
            std::sqrt(low_ns * low_ns + random_share() * (high_ns * high_ns - low_ns * low_ns));
    }
    if (spread_ == Spread::exponential) {
        const double mean_ns = period_ns_ - nearest_ns_;
        met_ns = nearest_ns_ - mean_ns * std::log1p(-random_share());
        if (random_share() * period_ns_ < mean_ns)
            met_ns -= mean_ns * std::log1p(-random_share());
    }
    // The kernel takes no interval of nothing.
    const double first_ns = spread_ == Spread::fixed ? met_ns : met_ns * random_share();
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(first_ns));
}

}  // namespace steelyard
