#include "chain.hpp"

#include <set>

#include "tests.hpp"

TEST("a chain visits every line but its first once, and comes round") {
    constexpr std::uint32_t start = 0x40000000;
    constexpr std::uint32_t bytes = 64 * 1024;
    const auto contents = steelyard::chain_through(start, bytes);
    CHECK(contents.size() * sizeof(std::uint32_t) == bytes);
    std::set<std::uint32_t> seen;
    std::uint32_t link = contents[0];
    while (seen.insert(link).second)
        link = contents[(link - start) / sizeof(std::uint32_t)];
    CHECK(link == contents[0]);
    CHECK(seen.size() == bytes / steelyard::line_bytes - 1);
    CHECK(!seen.contains(start));
}
