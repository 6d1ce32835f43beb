// The time to the next sample: a period plus a random part, drawn anew for every sample.

#pragma once

#include <cstdint>
#include <string_view>

namespace steelyard {

enum class Spread { fixed, uniform, exponential, rounds };

/// Reads a spread's name; throws Fatal for one that is not known.
Spread spread_from(std::string_view name);

/// Draws intervals between samples, in nanoseconds.
///
/// Uniform: period times 1 ± ratio. Exponential: mean `period`, so that samples are a Poisson
/// process, whose past says nothing about its future. Of both none is shorter than 20 us, or half
/// of a period below 40 us: what comes sooner finds the program where it was. Their mean is the
/// period all the same. Fixed: always `period`; it aliases with whatever the program does as
/// regularly, and is here to show that. Rounds: as uniform, by half of the period at most, for the
/// samples of a round alike.
class Intervals {
  public:
    Intervals(Spread spread, double period_ns, double ratio, std::uint64_t seed);

    std::uint64_t next_ns();
    /// From a moment that knows nothing of the row of samples to the first of them, as long as it
    /// is from any moment to the next one: so that also what ends before is sampled once a period
    /// on average. Of a fixed spread a whole period.
    std::uint64_t first_ns();
    double mean_ns() const { return period_ns_; }
    Spread spread() const { return spread_; }

  private:
    std::uint64_t random_bits();
    double random_share();

    Spread spread_;
    double period_ns_;
    double nearest_ns_;
    double ratio_;
    std::uint64_t state_;
};

}  // namespace steelyard
