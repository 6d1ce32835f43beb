// The random numbers of the runtime: small generators without libc, each begun from a seed.

#pragma once

#include <cstdint>

namespace steelyard::layout {

/// Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
inline std::uint64_t split_mix(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
}

/// xoroshiro128+ (Blackman and Vigna, Scrambled Linear Pseudorandom Number Generators, 2021). Its
/// weakest bits are the lowest; only the upper 32 are used.
class Random {
  public:
    Random() = default;
    explicit Random(std::uint64_t seed) : low_(split_mix(seed)), high_(split_mix(seed)) {}

    std::uint32_t next() {
        const std::uint64_t result = low_ + high_;
        const std::uint64_t mixed = high_ ^ low_;
        low_ = rotated(low_, 24) ^ mixed ^ (mixed << 16U);
        high_ = rotated(mixed, 37);
        return static_cast<std::uint32_t>(result >> 32U);
    }
    /// Below `bound`, by multiplication (Lemire, Fast Random Integer Generation in an Interval,
    /// 2019) without the rejection: the bias is below bound / 2^32.
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>((static_cast<std::uint64_t>(next()) * bound) >> 32U);
    }

  private:
    static std::uint64_t rotated(std::uint64_t value, unsigned by) {
        return (value << by) | (value >> (64U - by));
    }

    std::uint64_t low_ = 1, high_ = 2;
};

}  // namespace steelyard::layout
