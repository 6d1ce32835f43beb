#include "limits.hpp"

#include <array>

#include "conditions.hpp"
#include "tests.hpp"

using namespace steelyard;

TEST("limits are found by name in either case") {
    CHECK(resource_by_name("NOFILE") == RLIMIT_NOFILE);
    CHECK(resource_by_name("stack") == RLIMIT_STACK);
    CHECK(!resource_by_name("patience"));
}

TEST("CPUs are listed as ranges") {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CHECK(cpu_list(cpus).empty());
    for (const std::size_t cpu : std::array<std::size_t, 5>{0, 1, 2, 5, 1023})
        CPU_SET(cpu, &cpus);
    CHECK(cpu_list(cpus) == "0-2,5,1023");
}
