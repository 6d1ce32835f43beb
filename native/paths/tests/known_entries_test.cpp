#include "known_entries.hpp"

#include <memory>

#include "tests.hpp"

using steelyard::KnownEntries;

TEST("entries that differ by function or by the place on the stack do not share a place") {
    const auto known = std::make_unique<KnownEntries>();
    const auto* const place = &known->place_of(0x401234, 0x7ffd1008, 5);
    CHECK(&known->place_of(0x401234, 0x7ffd1008, 5) == place);
    CHECK(&known->place_of(0x401234, 0x7ffd1008, 6) != place);
    CHECK(&known->place_of(0x401234, 0x7ffd1018, 5) != place);
    CHECK(&known->place_of(0x401239, 0x7ffd1008, 5) != place);
}

TEST("each place holds an entry of stacks that follow one another") {
    const auto known = std::make_unique<KnownEntries>();
    const auto* const first = &known->place_of(0x401234, 0x10000, 0);
    for (std::uint64_t height = 8; height < 8 * KnownEntries::places; height += 8)
        CHECK(&known->place_of(0x401234, 0x10000 + height, 0) != first);
    CHECK(&known->place_of(0x401234, 0x10000 + 8 * KnownEntries::places, 0) == first);
}

TEST("entries are forgotten all at once") {
    const auto known = std::make_unique<KnownEntries>();
    for (auto& entry : known->at)
        entry.return_address = 0x401234;
    known->forget();
    for (const auto& entry : known->at)
        CHECK(entry.return_address == 0);
}
