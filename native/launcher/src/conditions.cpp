#include "conditions.hpp"

#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "time_namespace.hpp"

namespace steelyard {

namespace {

constexpr unsigned long query_personality = 0xffffffff;
constexpr long mpol_bind = 2;  // <linux/mempolicy.h>
constexpr unsigned long node_bits = 64;

Failure failed(const char* step) noexcept {
    return Failure{step, errno};
}

Failure set_cpus(const cpu_set_t& wanted, Realised& realised) noexcept {
    if (sched_setaffinity(0, sizeof wanted, &wanted) != 0)
        return failed("set the CPUs");
    if (sched_getaffinity(0, sizeof realised.cpus, &realised.cpus) != 0) {
        return failed("read back the CPUs");
    }
    return {};
}

Failure set_aslr(bool wanted, Realised& realised) noexcept {
    const int current = personality(query_personality);
    if (current < 0)
        return failed("read the personality");
    const unsigned int flags = static_cast<unsigned int>(current);
    const unsigned int changed =
        wanted ? flags & ~static_cast<unsigned int>(ADDR_NO_RANDOMIZE) : flags | ADDR_NO_RANDOMIZE;
    if (changed != flags && personality(changed) < 0)
        return failed("set the personality");
    const int found = personality(query_personality);
    realised.aslr = (found & ADDR_NO_RANDOMIZE) == 0;
    return {};
}

Failure set_nice(int wanted, Realised& realised) noexcept {
    if (setpriority(PRIO_PROCESS, 0, wanted) != 0)
        return failed("set the niceness");
    realised.nice = getpriority(PRIO_PROCESS, 0);
    return {};
}

Failure set_realtime(int wanted, Realised& realised) noexcept {
    sched_param parameters{};
    parameters.sched_priority = wanted;
    if (sched_setscheduler(0, SCHED_FIFO, &parameters) != 0) {
        return failed("set the real-time priority");
    }
    if (sched_getparam(0, &parameters) == 0)
        realised.realtime_priority = parameters.sched_priority;
    return {};
}

/// Memory from these nodes alone, for the program too: the policy of a task outlives execve(2).
Failure set_memory_nodes(std::uint64_t wanted, Realised& realised) noexcept {
    // The kernel reads one bit less than it is told.
    if (syscall(SYS_set_mempolicy, mpol_bind, &wanted, node_bits + 1) != 0)
        return failed("set the memory nodes");
    // The kernel gives as many bits as it may have nodes, which are up to 1024.
    std::uint64_t found[16] = {};
    int policy = 0;
    if (syscall(SYS_get_mempolicy, &policy, found, sizeof found * 8, nullptr, 0L) != 0)
        return failed("read back the memory nodes");
    realised.memory_nodes = policy == mpol_bind ? found[0] : 0;
    return {};
}

}  // namespace

Failure apply(const Conditions& conditions, const PrivateNetwork& network,
              Realised& realised) noexcept {
    Failure failure;
    if (conditions.cpus)
        failure = set_cpus(*conditions.cpus, realised);
    if (!failure && conditions.nice)
        failure = set_nice(*conditions.nice, realised);
    if (!failure && conditions.realtime_priority) {
        failure = set_realtime(*conditions.realtime_priority, realised);
    }
    if (!failure && conditions.aslr)
        failure = set_aslr(*conditions.aslr, realised);
    if (!failure && conditions.memory_nodes)
        failure = set_memory_nodes(*conditions.memory_nodes, realised);
    if (!failure && conditions.clock_shift_s) {
        const char* step = shift_clocks(*conditions.clock_shift_s, realised.clock_shift_s);
        if (step != nullptr)
            failure = failed(step);
    }
    for (const Limit& limit : conditions.limits) {
        if (failure)
            break;
        const rlimit both{limit.value, limit.value};
        if (setrlimit(static_cast<__rlimit_resource_t>(limit.resource), &both) != 0) {
            failure = failed("set a resource limit");
        }
    }
    if (!failure && conditions.private_network) {
        if (const int error = network.join(); error != 0)
            failure = {"join the private network", error};
    }
    return failure;
}

std::string bit_list(std::uint64_t bits) {
    std::string text;
    for (int bit = 0; bits != 0; ++bit, bits >>= 1) {
        if ((bits & 1) == 0)
            continue;
        if (!text.empty())
            text += ',';
        text += std::to_string(bit);
    }
    return text;
}

std::string cpu_list(const cpu_set_t& cpus) {
    std::string text;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &cpus))
            continue;
        int last = cpu;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &cpus))
            ++last;
        if (!text.empty())
            text += ',';
        text += std::to_string(cpu);
        if (last > cpu)
            text += '-' + std::to_string(last);
        cpu = last;
    }
    return text;
}

}  // namespace steelyard
