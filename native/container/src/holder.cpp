#include "holder.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "cgroups.hpp"
#include "control.hpp"
#include "fatal.hpp"
#include "init.hpp"
#include "root.hpp"

namespace steelyard {

namespace {

// Inside; outside it is who started it, or for root the last of the numbers that systemd keeps for
// containers (systemd.io/UIDS-GIDS), which owns nothing.
constexpr uid_t inside_user = 1000;
constexpr uid_t outside_user_of_root = 1'878'982'656;
constexpr int patience_ms = 30'000;
constexpr int look_ms = 50;
constexpr int most_looks = 25'000;
constexpr int most_looks_at_state = 2'500;

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

uid_t outside_user() {
    return geteuid() == 0 ? outside_user_of_root : geteuid();
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

/// The two ends of a pipe.
struct Pipe {
    int reader = -1;
    int writer = -1;
    Pipe() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            throw Fatal::with_errno("A container lacks descriptors");
        reader = ends[0];
        writer = ends[1];
    }
};

/// A container that is being made, by the processes that make it.
class Making {
  public:
    explicit Making(const Options& options) : options_(options) {}

    /// Opens what a container begins from, and its socket.
    void open_source() {
        if (mkdir(options_.state.c_str(), 0700) != 0)
            throw Fatal::with_errno("The container's folder '" + options_.state +
                                    "' cannot be made");
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

    /// The keeper: it outlives all processes of the container and removes what they cannot.
    [[noreturn]] void keep(pid_t owner) {
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

    int ready_reader() const { return ready_.reader; }
    void close_writer() { close(ready_.writer); }
    int said_go() const { return go_.writer; }

  private:
    void tell(const std::string& text) const {
        [[maybe_unused]] const ssize_t told = write(ready_.writer, text.data(), text.size());
    }

    void limit() {
        // Files in memory count as memory; they have a limit of their own.
        const std::int64_t memory =
            options_.memory_bytes == 0
                ? 0
                : options_.memory_bytes +
                      (options_.kind == Kind::contained ? options_.disk_bytes : 0);
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

    pid_t start_entrant() {
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

    /// The process that enters the namespaces and whose child is the first of the container.
    [[noreturn]] void enter(const Pipe& unshared, const Pipe& mapped) {
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

    [[noreturn]] void start_init() {
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

    /// What the launcher reads to start a program in the container.
    void write_entry(pid_t entrant) const {
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

    /// Makes this process end when `owner` does, whose child it becomes when its parent has ended;
    /// false where the container ends before.
    bool stay_with(pid_t owner, pid_t entrant) const {
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

    const Options& options_;
    Source source_;
    Place place_;
    Cgroups cgroups_;
    Pipe ready_;
    Pipe go_;
    int requests_ = -1;
};

std::string read_to_end(int file) {
    std::string text;
    char block[512];
    ssize_t got = 0;
    while ((got = read(file, block, sizeof block)) > 0 || (got < 0 && errno == EINTR)) {
        text.append(block, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (text == "ok")
            break;
    }
    return text;
}

void close_streams() {
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0)
        _exit(1);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        dup2(nothing, stream);
}

Message request(const std::string& what, const Options& options) {
    Message message;
    message.words = {what, std::to_string(options.time_ms)};
    message.words.insert(message.words.end(), options.command.begin(), options.command.end());
    message.words.emplace_back();
    for (char** variable = environ; *variable != nullptr; ++variable)
        message.words.emplace_back(*variable);
    return message;
}

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (letter == '"' || letter == '\\')
            result += '\\';
        if (byte < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", byte);
            result += code;
        } else {
            result += letter;
        }
    }
    return result + '"';
}

/// What of the entry follows a word, such as how limits are held.
std::string entry_line(const std::string& state, const std::string& wanted) {
    std::ifstream file(state + "/entry");
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with(wanted + " "))
            return line.substr(wanted.size() + 1);
    }
    return "";
}

Refusals refusals_of(const std::string& state) {
    Refusals found;
    std::ifstream file(state + "/entry");
    std::string line;
    while (std::getline(file, line)) {
        if (!line.starts_with("cgroup "))
            continue;
        const std::string folder = line.substr(7, line.rfind('/') - 7);
        const Refusals own = refusals_in(folder);
        found.forks += own.forks;
        found.memory_kills += own.memory_kills;
    }
    return found;
}

void remove_state(const std::string& state) {
    for (const char* name : {"/entry", "/keeper", "/control", "/layer.ext4"})
        unlink((state + name).c_str());
    // What was mounted there goes with the last process of the container, which may just have
    // ended.
    const timespec pause{0, 2'000'000};
    for (int look = 0; look < most_looks_at_state; ++look) {
        for (const char* name : {"/disk", "/below"})
            rmdir((state + name).c_str());
        if (rmdir(state.c_str()) == 0 || errno == ENOENT)
            return;
        nanosleep(&pause, nullptr);
    }
    throw Fatal::with_errno("The container's folder '" + state + "' cannot be removed");
}

/// Whether there was somebody to ask.
bool ask_to_end(const std::string& state) {
    try {
        const Connection connection(state);
        send_message(connection.socket(), {{"end"}, {}});
        return true;
    } catch (const Fatal&) {
        return false;
    }
}

}  // namespace

void hold(const Options& options, bool detached) {
    Making making(options);
    making.open_source();
    const pid_t owner = detached ? getppid() : 0;
    const pid_t self = getpid();
    const pid_t keeper = fork();
    if (keeper < 0)
        throw Fatal::with_errno("A container needs a process");
    if (keeper == 0) {
        if (detached) {
            close_streams();
        } else {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != self)
                _exit(1);
        }
        making.keep(owner);
    }
    making.close_writer();
    const std::string answer = read_to_end(making.ready_reader());
    if (answer == "ok")
        return;
    waitpid(keeper, nullptr, 0);  // It sees that the container has ended.
    remove_state(options.state);
    throw Fatal(answer.empty() ? "The container ended before it was ready." : answer);
}

void run_inside(const Options& options) {
    const Connection connection(options.state);
    Message message = request("run", options);
    message.files = {STDOUT_FILENO};
    ask(connection.socket(), message);
}

void save(const Options& options) {
    if (mkdir(options.save.c_str(), 0755) != 0)
        throw Fatal::with_errno("'" + options.save + "' cannot be made");
    if (options.kind == Kind::trusted)
        return;  // Its layer is taken over when it has ended.
    if (geteuid() == 0 && chown(options.save.c_str(), outside_user(), outside_user()) != 0)
        throw Fatal::with_errno("'" + options.save + "' cannot be given to the container");
    const int folder = open(options.save.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const Connection connection(options.state);
    ask(connection.socket(), {{"save"}, {folder}});
    close(folder);
}

void collect(const Options& options) {
    const int archive =
        open(options.result.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (archive < 0)
        throw Fatal::with_errno("'" + options.result + "' cannot be written");
    const Connection connection(options.state);
    Message message = request("collect", options);
    message.files = {STDERR_FILENO, archive};
    std::ofstream report(options.report);
    const Refusals refused = refusals_of(options.state);
    report << "{\"kept\":" << quoted(options.result)
           << ",\"held\":" << quoted(entry_line(options.state, "held"))
           << ",\"refused_forks\":" << refused.forks
           << ",\"memory_kills\":" << refused.memory_kills;
    try {
        const std::vector<std::string> ended = ask(connection.socket(), {{"settle"}, {}});
        report << ",\"leftover_processes\":" << ended.at(1) << ",\"full\":" << quoted(ended.at(2));
        const std::vector<std::string> answer = ask(connection.socket(), message);
        report << ",\"result\":" << quoted(answer.at(1)) << ",\"result_bytes\":" << answer.at(2)
               << "}\n";
    } catch (const Fatal& fatal) {
        report << ",\"problem\":" << quoted(fatal.message) << "}\n";
        throw;
    }
    close(archive);
}

void rehearse(const Options& options) {
    for (std::size_t at = 0; at < options.command.size(); ++at) {
        Options one = options;
        one.command = {options.command[at]};
        std::printf("== %s ==\n", one.command[0].c_str());
        std::fflush(stdout);
        at + 1 < options.command.size() ? run_inside(one) : collect(one);
    }
}

void end(const Options& options) {
    pid_t keeper = 0;
    std::ifstream(options.state + "/keeper") >> keeper;
    const int watched = keeper == 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, keeper, 0));
    ask_to_end(options.state);
    if (watched >= 0) {
        pollfd gone{watched, POLLIN, 0};
        if (poll(&gone, 1, patience_ms) == 0)
            kill(keeper, SIGKILL);
        close(watched);
    }
    while (keeper > 0 && waitpid(keeper, nullptr, 0) < 0 && errno == EINTR)
        continue;
    if (!options.save.empty() && options.kind == Kind::trusted) {
        const std::string name = "/layer.ext4";
        if (rename((options.state + name).c_str(), (options.save + name).c_str()) != 0)
            throw Fatal::with_errno("The layer cannot be kept in '" + options.save + "'");
    }
    remove_state(options.state);
}

}  // namespace steelyard
