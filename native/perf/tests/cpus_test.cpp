#include "cpus.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "tests.hpp"

namespace {

using steelyard::cpus_within_reach;
using steelyard::numbers_in;
using steelyard::online_cpus;
using Numbers = std::vector<int>;

}  // namespace

TEST("a list of the kernel's is read with its gaps") {
    CHECK(numbers_in("0") == Numbers{0});
    CHECK((numbers_in("0-3,8\n") == Numbers{0, 1, 2, 3, 8}));
    CHECK((numbers_in("2,4-5,7-7") == Numbers{2, 4, 5, 7}));
}

TEST("what is no list has no numbers") {
    CHECK(numbers_in("").empty());
    CHECK(numbers_in("none").empty());
    CHECK(numbers_in("1-x") == Numbers{1});
}

TEST("what is within reach is online, and does not depend on where the process runs now") {
    cpu_set_t before, one;
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    const Numbers reach = cpus_within_reach();
    CHECK(!reach.empty());
    CHECK(std::ranges::includes(online_cpus(), reach));
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(reach.back()), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(cpus_within_reach() == reach);
    CHECK(steelyard::runs_within_reach(getpid()));
    // Asking leaves it where it was.
    cpu_set_t after;
    CHECK(sched_getaffinity(0, sizeof after, &after) == 0);
    CHECK(CPU_EQUAL(&after, &one));
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}
