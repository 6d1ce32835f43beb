#include "network.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "fatal.hpp"

namespace steelyard {

namespace {

bool write_file(const char* path, const std::string& text) {
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool done = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    close(file);
    return done;
}

bool map_identity(uid_t user, gid_t group) {
    const std::string user_id = std::to_string(user);
    const std::string group_id = std::to_string(group);
    return write_file("/proc/self/setgroups", "deny") &&
           write_file("/proc/self/uid_map", user_id + " " + user_id + " 1") &&
           write_file("/proc/self/gid_map", group_id + " " + group_id + " 1");
}

/// What the holder of the namespaces does: make them, report, and wait to be ended.
[[noreturn]] void hold(int flags, int report) {
    const uid_t user = geteuid();
    const gid_t group = getegid();
    int error = unshare(flags) == 0 ? 0 : errno;
    if (error == 0 && (flags & CLONE_NEWUSER) != 0 && !map_identity(user, group))
        error = errno;
    if (write(report, &error, sizeof error) == sizeof error)
        pause();
    _exit(0);
}

int open_namespace(pid_t holder, const char* kind) {
    const std::string path = "/proc/" + std::to_string(holder) + "/ns/" + kind;
    return open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

/// Reads a number; a timer of the trial before may interrupt that.
ssize_t read_whole(int file, int& number) {
    ssize_t got = -1;
    do {
        got = read(file, &number, sizeof number);
    } while (got < 0 && errno == EINTR);
    return got;
}

/// Starts a process in new namespaces and takes hold of them; the errno of what failed, or 0.
int take(int flags, int& user, int& network) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    const pid_t holder = fork();
    if (holder == 0)
        hold(flags, ends[1]);
    close(ends[1]);
    int error = EIO;
    if (holder < 0 || read_whole(ends[0], error) != sizeof error)
        error = EIO;
    close(ends[0]);
    if (error == 0) {
        network = open_namespace(holder, "net");
        if ((flags & CLONE_NEWUSER) != 0)
            user = open_namespace(holder, "user");
        if (network < 0 || ((flags & CLONE_NEWUSER) != 0 && user < 0))
            error = errno;
    }
    if (holder > 0) {
        kill(holder, SIGKILL);
        waitpid(holder, nullptr, 0);
    }
    return error;
}

}  // namespace

PrivateNetwork::~PrivateNetwork() {
    if (user_ >= 0)
        close(user_);
    if (network_ >= 0)
        close(network_);
}

void PrivateNetwork::make() {
    if (network_ >= 0)
        return;
    if (take(CLONE_NEWNET, user_, network_) == 0)
        return;
    errno = take(CLONE_NEWNET | CLONE_NEWUSER, user_, network_);
    if (errno != 0) {
        throw Fatal::with_errno(
            "A private network needs root or unprivileged user namespaces, and this machine allows "
            "neither; run as root or leave the network on");
    }
}

int PrivateNetwork::join() const noexcept {
    if (user_ >= 0 && setns(user_, CLONE_NEWUSER) != 0)
        return errno;
    return setns(network_, CLONE_NEWNET) == 0 ? 0 : errno;
}

}  // namespace steelyard
