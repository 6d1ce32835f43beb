#include "leftovers.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "in_child.hpp"
#include "tests.hpp"

using namespace steelyard;

namespace {

// A test that fails leaves nothing behind for ever.
constexpr unsigned longest_life_s = 120;

pid_t waiting_child() {
    const pid_t child = fork();
    if (child == 0) {
        alarm(longest_life_s);
        for (;;)
            pause();
    }
    return child;
}

/// A grandchild whose parent has ended, as a program leaves a server behind.
void orphan() {
    const pid_t parent = fork();
    if (parent == 0) {
        waiting_child();
        _exit(0);
    }
    int status = 0;
    waitpid(parent, &status, 0);
}

bool lives(pid_t process) {
    return std::ranges::count(living_children(), process) == 1;
}

}  // namespace

TEST("what a program left running is adopted, counted and ended") {
    CHECK(holds_in_child([] {
        Leftovers leftovers;
        orphan();
        orphan();
        return leftovers.end_new() == 2 && living_children().empty() && leftovers.end_new() == 0;
    }));
}

TEST("what ran before lives on until all is ended") {
    CHECK(holds_in_child([] {
        Leftovers leftovers;
        const pid_t server = waiting_child();
        leftovers.keep_running();
        orphan();
        const bool one = leftovers.end_new() == 1 && lives(server);
        return one && leftovers.end_all() == 1 && living_children().empty();
    }));
}

TEST("a process that ignores the request to end is killed") {
    CHECK(holds_in_child([] {
        Leftovers leftovers;
        signal(SIGTERM, SIG_IGN);
        waiting_child();
        signal(SIGTERM, SIG_DFL);
        return leftovers.end_new() == 1 && living_children().empty();
    }));
}

TEST("ending at once asks nobody first") {
    CHECK(holds_in_child([] {
        Leftovers leftovers;
        signal(SIGTERM, SIG_IGN);
        const pid_t child = waiting_child();
        signal(SIGTERM, SIG_DFL);
        leftovers.kill_all();
        return !lives(child);
    }));
}
