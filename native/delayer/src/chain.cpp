#include "chain.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace steelyard {

std::vector<std::uint32_t> chain_through(std::uint32_t start, std::uint32_t bytes) {
    constexpr std::uint32_t words_a_line = line_bytes / sizeof(std::uint32_t);
    std::vector<std::uint32_t> contents(bytes / sizeof(std::uint32_t), 0);
    std::vector<std::uint32_t> order(bytes / line_bytes - 1);
    std::iota(order.begin(), order.end(), 1);
    // The same order in every run: what differs between runs is to be the number of turns alone.
    std::mt19937 same_each_time;  // NOLINT(bugprone-random-generator-seed,cert-msc51-cpp)
    std::ranges::shuffle(order, same_each_time);
    for (std::size_t at = 0; at < order.size(); ++at) {
        const std::uint32_t next = order[(at + 1) % order.size()];
        contents[order[at] * words_a_line] = start + next * line_bytes;
    }
    contents[0] = start + order[0] * line_bytes;
    return contents;
}

}  // namespace steelyard
