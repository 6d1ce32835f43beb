#include "walked_keys.hpp"

#include "tests.hpp"

namespace {

using steelyard::LookPlace;
using steelyard::WalkedKey;
using steelyard::WalkedKeys;

constexpr WalkedKey key{1, 0x1000, 0x7000};
constexpr LookPlace place{0x6ff0, 0x1004}, other{0x6fe0, 0x1010};

}  // namespace

TEST("A key with one path is believed after a few walks, and each of its places from then on") {
    WalkedKeys keys;
    for (unsigned walk = 1; walk < WalkedKeys::walks_of_one; ++walk)
        CHECK(keys.walked(key, place, 5).believed.empty());
    CHECK(keys.walked(key, place, 5).believed.size() == 1);
    CHECK(keys.walked(key, other, 5).believed.front().address == other.address);
}

TEST("A new path makes all places of its key doubtful, and more walks are wanted then") {
    WalkedKeys keys;
    for (unsigned walk = 0; walk < WalkedKeys::walks_of_one; ++walk)
        keys.walked(key, place, 5);
    keys.walked(key, other, 5);
    CHECK(keys.walked(key, other, 6).doubted.size() == 2);
    for (unsigned walk = 2; walk < WalkedKeys::walks_of_several; ++walk)
        CHECK(keys.walked(key, place, walk % 2 == 0 ? 5 : 6).believed.empty());
    CHECK(keys.walked(key, place, 5).believed.size() == 1);
    CHECK(keys.walked(key, place, 5).doubted.empty());
}

TEST("Keys of two processes, and two heights of one function, are different") {
    WalkedKeys keys;
    for (unsigned walk = 0; walk < WalkedKeys::walks_of_one; ++walk)
        keys.walked(key, place, 5);
    CHECK(keys.walked({2, key.function, key.frame}, place, 5).believed.empty());
    CHECK(keys.walked({1, key.function, key.frame + 16}, place, 5).believed.empty());
}
