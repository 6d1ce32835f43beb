#include "following.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "temporary_folder.hpp"
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
    CHECK(following.processes().empty());
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

TEST("a process has ended once no thread of it is left, waited for or not") {
    CHECK(!steelyard::has_ended(getpid()));
    CHECK(steelyard::has_ended(static_cast<pid_t>(stranger)));
    const pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    siginfo_t told{};
    CHECK(waitid(P_PID, static_cast<id_t>(dead), &told, WEXITED | WNOWAIT) == 0);
    CHECK(steelyard::has_ended(dead));
    waitpid(dead, nullptr, 0);
    CHECK(steelyard::has_ended(dead));
}

TEST("a process whose first thread has ended goes on while it has others") {
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        static int waits_for = ends[0];
        close(ends[1]);
        pthread_t other{};
        const auto wait = [](void*) -> void* {
            char word = 0;
            [[maybe_unused]] const auto got = read(waits_for, &word, 1);
            _exit(0);
        };
        if (pthread_create(&other, nullptr, wait, nullptr) != 0)
            _exit(1);
        pthread_exit(nullptr);
    }
    close(ends[0]);
    CHECK(!steelyard::has_ended(child));
    close(ends[1]);
    CHECK(waitpid(child, nullptr, 0) == child);
    CHECK(steelyard::has_ended(child));
}

TEST("the parent of a process is known whatever that is called") {
    int ends[2];
    CHECK(pipe(ends) == 0);
    prctl(PR_SET_NAME, "a\n) Z 1 (");
    const pid_t named = fork();
    if (named == 0) {
        close(ends[1]);
        char word = 0;
        [[maybe_unused]] const auto got = read(ends[0], &word, 1);
        _exit(0);
    }
    close(ends[0]);
    prctl(PR_SET_NAME, "perf-tests");
    const std::vector<pid_t> family = steelyard::family_of(getpid());
    CHECK(std::ranges::count(family, named) == 1);
    Following following;
    following.add(static_cast<std::uint32_t>(getpid()));
    CHECK(following.includes(static_cast<std::uint32_t>(named), 0));
    CHECK(!steelyard::has_ended(named));
    close(ends[1]);
    waitpid(named, nullptr, 0);
}

TEST("a process that ends between opening its file and reading it is gone") {
    // Reading a folder fails after it was opened, as reading the file of one that ended does.
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.at("stat"));
    const steelyard::ProcessStat found = steelyard::process_stat(folder.path());
    CHECK(found.state == 0);
    CHECK(found.parent == 0);
}
