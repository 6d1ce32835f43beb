// Mixes values into a number that stands for all of them. Not against an adversary.

#pragma once

#include <cstdint>

namespace steelyard {

/// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
constexpr std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
}

/// A digest of what `digest` stands for with one value more.
constexpr std::uint64_t mixed(std::uint64_t digest, std::uint64_t value) {
    return mixed(digest * 0xd1342543de82ef95U + value);
}

}  // namespace steelyard
