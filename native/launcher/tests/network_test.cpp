#include "network.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "fatal.hpp"
#include "in_child.hpp"
#include "tests.hpp"

using namespace steelyard;

namespace {

/// What tells one namespace from another.
ino_t network_of_this_process() {
    struct stat status{};
    return stat("/proc/self/ns/net", &status) == 0 ? status.st_ino : 0;
}

/// Whether a namespace could be made; where this machine lets nobody, that must be said in words.
bool is_made(PrivateNetwork& network) {
    try {
        network.make();
    } catch (const Fatal& fatal) {
        const bool is_allowed =
            holds_in_child([] { return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0; });
        if (is_allowed || fatal.message.find("leave the network on") == std::string::npos)
            throw;
        return false;
    }
    return true;
}

bool has_interface_that_is_up() {
    ifaddrs* found = nullptr;
    if (getifaddrs(&found) != 0)
        return true;
    bool is_up = false;
    for (const ifaddrs* one = found; one != nullptr; one = one->ifa_next)
        is_up = is_up || (one->ifa_flags & IFF_UP) != 0;
    freeifaddrs(found);
    return is_up;
}

}  // namespace

TEST("who joins the private network has no interface, and who made it stays where it was") {
    CHECK(holds_in_child([] {
        const ino_t own = network_of_this_process();
        PrivateNetwork network;
        if (!is_made(network))
            return true;
        const bool is_joined = holds_in_child([&network, own] {
            return network.join() == 0 && network_of_this_process() != own &&
                   !has_interface_that_is_up();
        });
        return is_joined && network_of_this_process() == own;
    }));
}

TEST("who is not root gets one inside of a user namespace, where the machine allows that") {
    CHECK(holds_in_child([] {
        constexpr uid_t nobody = 65534;
        if (geteuid() == 0 && (setgid(nobody) != 0 || setuid(nobody) != 0))
            return false;
        // As a process is that has not changed its user.
        prctl(PR_SET_DUMPABLE, 1);
        PrivateNetwork network;
        if (!is_made(network))
            return true;
        const uid_t user = geteuid();
        return holds_in_child([&network, user] {
            return network.join() == 0 && geteuid() == user && !has_interface_that_is_up();
        });
    }));
}

TEST("all trials share one private network, however often it is asked for") {
    CHECK(holds_in_child([] {
        PrivateNetwork network;
        if (!is_made(network))
            return true;
        const auto joined = [&network] {
            int ends[2];
            if (pipe(ends) != 0)
                return ino_t{0};
            ino_t found = 0;
            const bool is_written = holds_in_child([&network, &ends] {
                const ino_t there = network.join() == 0 ? network_of_this_process() : 0;
                return write(ends[1], &there, sizeof there) == sizeof there;
            });
            if (!is_written || read(ends[0], &found, sizeof found) != sizeof found)
                found = 0;
            close(ends[0]);
            close(ends[1]);
            return found;
        };
        const ino_t first = joined();
        network.make();
        return first != 0 && joined() == first;
    }));
}

TEST("nobody joins a network that was not made") {
    CHECK(holds_in_child([] {
        const PrivateNetwork network;
        return network.join() == EBADF;
    }));
}
