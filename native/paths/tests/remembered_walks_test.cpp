#include "remembered_walks.hpp"

#include <memory>

#include "tests.hpp"

namespace {

using steelyard::Entry;
using steelyard::RememberedWalk;
using steelyard::RememberedWalks;

void keep(RememberedWalks& walks, const Entry& entry, const std::uint64_t& word) {
    RememberedWalk& walk = *walks.place_for(entry);
    walk.entry = entry;
    walk.word_count = 1;
    walk.words[0] = {reinterpret_cast<std::uint64_t>(&word), word};
}

}  // namespace

TEST("a walk is found again while the words that it read are the same") {
    const auto walks = std::make_unique<RememberedWalks>();
    const Entry entry{0x7000, 0x1234, 1};
    const auto word = std::make_unique<std::uint64_t>(5);
    CHECK(walks->find(entry) == nullptr);
    keep(*walks, entry, *word);
    CHECK(walks->find(entry) != nullptr);
    CHECK(walks->find({0x7010, 0x1234, 1}) == nullptr);
    CHECK(walks->find({0x7000, 0x1235, 1}) == nullptr);
    *word = 6;
    CHECK(walks->find(entry) == nullptr);
    *word = 5;
    CHECK(walks->find(entry) != nullptr);
}

TEST("another frame pointer matters to a walk that used it") {
    const auto walks = std::make_unique<RememberedWalks>();
    const std::uint64_t word = 5;
    const Entry entry{0x7000, 0x1234, 1}, other{0x7000, 0x1234, 2};
    keep(*walks, entry, word);
    CHECK(walks->find(other) != nullptr);
    walks->place_for(entry)->uses_frame_pointer = true;
    CHECK(walks->find(other) == nullptr);
    CHECK(walks->find(entry) != nullptr);
}
