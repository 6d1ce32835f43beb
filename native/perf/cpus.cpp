#include "cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>

#include "fatal.hpp"

namespace steelyard {

namespace {

cpu_set_t affinity_of(pid_t process) {
    cpu_set_t cpus;
    if (sched_getaffinity(process, sizeof cpus, &cpus) != 0)
        throw Fatal::with_errno("The kernel does not tell on which CPUs process " +
                                std::to_string(process) + " may run");
    return cpus;
}

std::vector<int> numbers_of(const cpu_set_t& cpus) {
    std::vector<int> numbers;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(static_cast<std::size_t>(cpu), &cpus))
            numbers.push_back(cpu);
    }
    return numbers;
}

}  // namespace

std::vector<int> numbers_in(std::string_view list) {
    std::vector<int> numbers;
    const char* at = list.data();
    const char* const end = at + list.size();
    while (at != end) {
        int first = 0;
        auto [after, error] = std::from_chars(at, end, first);
        if (error != std::errc{})
            break;
        int last = first;
        if (after != end && *after == '-')
            after = std::from_chars(after + 1, end, last).ptr;
        for (int number = first; number <= last; ++number)
            numbers.push_back(number);
        at = after == end ? end : after + 1;
    }
    return numbers;
}

std::vector<int> online_cpus() {
    std::ifstream file("/sys/devices/system/cpu/online");
    std::string list;
    std::getline(file, list);
    auto cpus = numbers_in(list);
    // Without /sys, what this process may use is what is known.
    return cpus.empty() ? cpus_within_reach() : cpus;
}

std::vector<int> cpus_within_reach() {
    const cpu_set_t before = affinity_of(0);
    cpu_set_t all;
    std::memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
    const cpu_set_t within_reach = affinity_of(0);
    sched_setaffinity(0, sizeof before, &before);
    return numbers_of(within_reach);
}

std::vector<int> cpus_of(pid_t process) {
    try {
        return numbers_of(affinity_of(process));
    } catch (const Fatal&) {
        return {};
    }
}

bool runs_within_reach(pid_t process) {
    return std::ranges::includes(cpus_within_reach(), numbers_of(affinity_of(process)));
}

}  // namespace steelyard
