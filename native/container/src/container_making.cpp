#include "container_making.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>

#include "control.hpp"
#include "fatal.hpp"
#include "root.hpp"

namespace steelyard {

namespace {

// Inside; outside it is who started it, or for root the last of the numbers that systemd keeps for
// containers (systemd.io/UIDS-GIDS), which owns nothing.
constexpr uid_t inside_user = 1000;
constexpr uid_t outside_user_of_root = 1'878'982'656;
constexpr int look_ms = 50;
constexpr int most_looks = 25'000;

bool write_file(const std::string& path, const std::string& text) {
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool done = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const int error = errno;
    close(file);
    errno = error;
    return done;
}

void map_users(pid_t process) {
    const std::string folder = "/proc/" + std::to_string(process) + "/";
    const gid_t group = geteuid() == 0 ? outside_user_of_root : getegid();
    const auto line = [](uid_t outside) {
        return std::to_string(inside_user) + " " + std::to_string(outside) + " 1\n";
    };
    if (!write_file(folder + "setgroups", "deny") || !write_file(folder + "gid_map", line(group)) ||
        !write_file(folder + "uid_map", line(outside_user())))
        throw Fatal::with_errno("The container's user cannot be made");
}

[[noreturn]] void no_namespaces() {
    throw Fatal::with_errno(
        "This user may make no user namespace, which the environment 'contained' needs. Allow it "
        "(sysctl -w user.max_user_namespaces=10000; on Debian kernel.unprivileged_userns_clone=1, "
        "on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0), or run as root");
}

int namespaces_of(const Options& options) {
    int flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
    if (options.kind == Kind::contained) {
        flags |= CLONE_NEWUSER;
        if (!options.network)
            flags |= CLONE_NEWNET;
    }
    return flags;
}

}  // namespace

uid_t outside_user() {
    return geteuid() == 0 ? outside_user_of_root : geteuid();
}

Pipe::Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw Fatal::with_errno("A container lacks descriptors");
    reader = ends[0];
    writer = ends[1];
}

void Making::open_source() {
    if (mkdir(options_.state.c_str(), 0700) != 0)
        throw Fatal::with_errno("The container's folder '" + options_.state + "' cannot be made");
    const std::string& from = options_.layer.empty() ? options_.package : options_.layer;
    source_.is_layer = !options_.layer.empty();
    source_.layer_path = options_.layer;
    const bool takes_folder = !source_.is_layer || options_.kind == Kind::contained;
    if (!from.empty() && takes_folder) {
        source_.folder = open(from.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (source_.folder < 0)
            throw Fatal::with_errno("'" + from + "' cannot be opened");
    }
    requests_ = listen_in(options_.state);
    if (options_.kind == Kind::trusted) {
        if (geteuid() != 0)
            throw Fatal("The environment 'trusted' needs root; 'contained' does not.");
        make_layer_file(options_);
    }
}

void Making::keep(pid_t owner) {
    close(go_.writer);
    try {
        limit();
        const pid_t entrant = start_entrant();
        std::ofstream(options_.state + "/keeper") << getpid() << '\n';
        close(ready_.writer);
        int status = 0;
        if (owner == 0 || stay_with(owner, entrant))
            waitpid(entrant, &status, 0);
    } catch (const Fatal& fatal) {
        tell(fatal.message);
    }
    cgroups_.remove();
    _exit(0);
}

void Making::close_writer() const {
    close(ready_.writer);
}

void Making::tell(const std::string& text) const {
    [[maybe_unused]] const ssize_t told = write(ready_.writer, text.data(), text.size());
}

void Making::limit() {
    // Files in memory count as memory; they have a limit of their own.
    const std::int64_t memory =
        options_.memory_bytes == 0
            ? 0
            : options_.memory_bytes + (options_.kind == Kind::contained ? options_.disk_bytes : 0);
    cgroups_.make("steelyard-" + std::to_string(getpid()), options_.processes, memory);
    for (const std::string& entry : cgroups_.entries())
        place_.cgroups.push_back(open(entry.c_str(), O_WRONLY | O_CLOEXEC));
    if (options_.kind == Kind::contained) {
        place_.user = inside_user;
        // The first process of the container and the one above it count too.
        if (options_.processes != 0 && !cgroups_.limits_processes())
            place_.processes = options_.processes + 2;
        if (!cgroups_.limits_memory())
            place_.data_bytes = options_.memory_bytes;
    }
}

pid_t Making::start_entrant() {
    Pipe unshared;
    Pipe mapped;
    const pid_t entrant = fork();
    if (entrant < 0)
        throw Fatal::with_errno("A container needs a process");
    if (entrant == 0)
        enter(unshared, mapped);
    close(unshared.writer);
    close(mapped.reader);
    char answer = 0;
    if (read(unshared.reader, &answer, 1) == 1 && options_.kind == Kind::contained)
        map_users(entrant);
    close(mapped.writer);
    close(unshared.reader);
    write_entry(entrant);
    return entrant;
}

void Making::enter(const Pipe& unshared, const Pipe& mapped) {
    try {
        close(mapped.writer);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (options_.kind == Kind::contained && geteuid() == 0)
            setgroups(0, nullptr);
        if (unshare(namespaces_of(options_)) != 0) {
            if (options_.kind == Kind::contained)
                no_namespaces();
            throw Fatal::with_errno("The container's namespaces cannot be made");
        }
        char answer = 0;
        if (write(unshared.writer, "u", 1) != 1 || read(mapped.reader, &answer, 1) != 0)
            throw Fatal("The container's keeper has ended.");
        if (options_.kind == Kind::contained &&
            (setresgid(inside_user, inside_user, inside_user) != 0 ||
             setresuid(inside_user, inside_user, inside_user) != 0))
            throw Fatal::with_errno("The container's user cannot be taken on");
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // Lost with the change of user.
        start_init();
    } catch (const Fatal& fatal) {
        tell(fatal.message);
    }
    _exit(1);
}

void Making::start_init() {
    const pid_t first = fork();
    if (first < 0)
        throw Fatal::with_errno("A container needs a process");
    if (first == 0)
        be_init(options_, source_, place_, requests_, ready_.writer);
    // A copy of the descriptor here would keep waiting whoever waits for its end.
    close(ready_.writer);
    int status = 0;
    waitpid(first, &status, 0);
    _exit(status == 0 ? 0 : 1);
}

void Making::write_entry(pid_t entrant) const {
    std::ofstream file(options_.state + "/entry");
    file << "entrant " << entrant << '\n';
    file << "user " << place_.user << '\n' << "folder " << place_.folder << '\n';
    file << "namespaces";
    if (options_.kind == Kind::contained)
        file << " user";
    file << " ipc uts";
    if (options_.kind == Kind::contained && !options_.network)
        file << " net";
    file << " mnt\n";
    for (const std::string& entry : cgroups_.entries())
        file << "cgroup " << entry << '\n';
    file << "limit " << RLIMIT_CORE << " 0\n";
    if (place_.processes != 0)
        file << "limit " << RLIMIT_NPROC << ' ' << place_.processes << '\n';
    if (place_.data_bytes != 0)
        file << "limit " << RLIMIT_DATA << ' ' << place_.data_bytes << '\n';
    file << "held " << (cgroups_.limits_processes() ? "cgroup" : "rlimit") << ' '
         << (cgroups_.limits_memory() ? "cgroup" : "rlimit") << '\n';
}

bool Making::stay_with(pid_t owner, pid_t entrant) const {
    pollfd parent{go_.reader, POLLIN, 0};
    while (poll(&parent, 1, look_ms) == 0) {
        if (waitpid(entrant, nullptr, WNOHANG) == entrant)
            return false;
    }
    const timespec pause{0, 200'000};
    for (int look = 0; getppid() != owner && look < most_looks; ++look)
        nanosleep(&pause, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != owner)
        kill(entrant, SIGKILL);
    return true;
}

}  // namespace steelyard
