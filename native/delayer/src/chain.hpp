// The memory that a memory-bound delay walks through.

#pragma once

#include <cstdint>
#include <vector>

namespace steelyard {

/// What a processor fetches at once (x86-64).
constexpr std::uint32_t line_bytes = 64;

/// The contents of `bytes` at `start`: in each line but the first the address of another, in one
/// ring through all of them in an order that no prefetcher guesses. The first line holds the place
/// where a walk goes on, at `start`.
std::vector<std::uint32_t> chain_through(std::uint32_t start, std::uint32_t bytes);

}  // namespace steelyard
