#include "following.hpp"

#include <unistd.h>

#include "tests.hpp"

namespace {

using steelyard::Following;
using steelyard::Lifetime;

// Far above what Linux gives to processes (4,194,304), so that /proc knows none of them.
constexpr std::uint32_t parent = 50'000'001, child = 50'000'002, stranger = 50'000'003;

Lifetime start_of(std::uint32_t process, std::uint32_t from) {
    return {0, process, process, from, from};
}

}  // namespace

TEST("children of followed processes are followed, strangers are not") {
    Following following;
    following.add(parent);
    CHECK(!following.includes(child));
    following.started(start_of(child, parent));
    CHECK(following.includes(child));
    following.started(start_of(stranger, stranger + 1));
    CHECK(!following.includes(stranger));
}

TEST("a process ends with its first thread, and not with another") {
    Following following;
    following.add(parent);
    CHECK(!following.ended({0, parent, parent + 7, 0, 0}));
    CHECK(following.includes(parent));
    CHECK(following.ended({0, parent, parent, 0, 0}));
    CHECK(following.empty());
}

TEST("a process whose start was not heard of yet is found by its parents") {
    Following following;
    following.add(static_cast<std::uint32_t>(getppid()));
    CHECK(following.includes(static_cast<std::uint32_t>(getpid())));
}
