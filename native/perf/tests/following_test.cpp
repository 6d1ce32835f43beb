#include "following.hpp"

#include <unistd.h>

#include <string>
#include <vector>

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
    CHECK(!following.includes(child, 0));
    following.started(start_of(child, parent));
    CHECK(following.includes(child, 0));
    following.started(start_of(stranger, stranger + 1));
    CHECK(!following.includes(stranger, 0));
}

TEST("a process ends with its last thread, though its first may have ended before") {
    Following following;
    following.add(parent);
    following.started({0, parent, parent + 7, parent, parent});
    CHECK(!following.ended({0, parent, parent, 0, 0}));
    CHECK(following.includes(parent, 0));
    CHECK(following.ended({0, parent, parent + 7, 0, 0}));
    CHECK(following.empty());
}

TEST("samples of a process that are read after its end was heard of are still its own") {
    Following following;
    following.add(parent);
    following.mapped({0, parent, 0x1000, 0x5000, 0, "program", 0, {}});
    CHECK(following.ended({7000, parent, parent, 0, 0}));
    CHECK(following.includes(parent, 6999));
    CHECK(following.place_of(parent, 0x1800).has_value());
    CHECK(!following.includes(parent, 7001));
    // Long after, another process may have its number.
    following.add(child);
    CHECK(following.ended({2'000'000'000, child, child, 0, 0}));
    CHECK(!following.includes(parent, 6999));
}

TEST("a thread whose end is heard of before its start keeps no process alive") {
    Following following;
    following.add(parent);
    CHECK(!following.ended({0, parent, parent + 7, 0, 0}));
    following.started({0, parent, parent + 7, parent, parent});
    CHECK(following.ended({0, parent, parent, 0, 0}));
}

TEST("a file that goes on with a profile has the names that threads took from others") {
    Following following;
    following.add(parent);
    following.named({0, parent, parent, false, "worker"});
    following.started({5, parent, parent + 7, parent, parent});
    following.started({6, child, child, parent, parent + 7});
    std::vector<std::string> names;
    following.restate([&names](const auto& record) {
        if constexpr (requires { record.after_exec; })
            names.push_back(record.name);
    });
    CHECK(names == std::vector<std::string>(3, "worker"));
}

TEST("a child of which a sample came before its start has the code of its parent") {
    Following following;
    following.add(parent);
    following.mapped({0, parent, 0x1000, 0x5000, 0, "program", 0, {}});
    following.add(child);
    following.started(start_of(child, parent));
    CHECK(following.place_of(child, 0x1800).has_value());
}

TEST("a new program has none of the threads of the one before") {
    Following following;
    following.add(parent);
    following.started({0, parent, parent + 7, parent, parent});
    following.named({0, parent, parent, true, "next"});
    CHECK(following.ended({0, parent, parent, 0, 0}));
}

TEST("what is mapped over something else leaves the rest of it") {
    Following following;
    following.add(parent);
    following.mapped({0, parent, 0x1000, 0x5000, 0, "old", 0, {}});
    following.mapped({0, parent, 0x2000, 0x1000, 0x700000, "new", 0, {}});
    const auto path_at = [&](std::uint64_t address) {
        const auto place = following.place_of(parent, address);
        return place ? *place->path : "";
    };
    CHECK(path_at(0x1fff) == "old");
    CHECK(path_at(0x2000) == "new");
    CHECK(path_at(0x3000) == "old");
    const auto behind = following.place_of(parent, 0x3010);
    CHECK(behind && behind->offset == 0x2010);
    following.mapped({0, parent, 0x1000, 0x8000, 0, "all", 0, {}});
    CHECK(path_at(0x2fff) == "all");
    CHECK(path_at(0x5fff) == "all");
    CHECK(path_at(0x9000).empty());
}

TEST("a process whose start was not heard of yet is found by its parents") {
    Following following;
    following.add(static_cast<std::uint32_t>(getppid()));
    CHECK(following.includes(static_cast<std::uint32_t>(getpid()), 0));
}
