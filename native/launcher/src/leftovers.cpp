#include "leftovers.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "clock.hpp"
#include "fatal.hpp"
#include "watch.hpp"

namespace steelyard {

namespace {

constexpr long poll_ns = 1'000'000;
constexpr std::int64_t patience_ns = 10 * second_ns;

/// Reaps what has ended; whether any child still lives.
bool reap() {
    pid_t got = 0;
    while ((got = waitpid(-1, nullptr, WNOHANG)) > 0)
        continue;
    return got == 0;
}

/// State and parent from /proc/PID/stat, whose second field is a name in parentheses that may
/// itself hold any byte.
bool read_stat(const std::string& path, char& state, pid_t& parent) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    char buffer[512];
    const ssize_t got = read(file, buffer, sizeof buffer);
    close(file);
    if (got <= 0)
        return false;
    const std::string_view text(buffer, static_cast<std::size_t>(got));
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string_view::npos || name_end + 4 >= text.size())
        return false;
    state = text[name_end + 2];
    const char* number = text.data() + name_end + 4;
    return std::from_chars(number, text.data() + text.size(), parent).ec == std::errc{};
}

void rest() {
    const timespec pause{0, poll_ns};
    nanosleep(&pause, nullptr);
}

}  // namespace

std::vector<pid_t> living_children() {
    std::vector<pid_t> result;
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc"), closedir);
    if (!directory)
        throw Fatal::with_errno("The launcher needs /proc to find processes");
    const pid_t self = getpid();
    while (const dirent* entry = readdir(directory.get())) {
        const pid_t process = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
        char state = 0;
        pid_t parent = 0;
        if (process <= 0 ||
            !read_stat(std::string("/proc/") + entry->d_name + "/stat", state, parent))
            continue;
        if (parent == self && state != 'Z')
            result.push_back(process);
    }
    return result;
}

Leftovers::Leftovers() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool Leftovers::is_kept(pid_t process) const {
    return std::ranges::find(kept_, process) != kept_.end();
}

void Leftovers::keep_running() {
    if (reap())
        kept_ = living_children();
}

int Leftovers::end_new() {
    return end(true);
}

int Leftovers::end_all() {
    kept_.clear();
    return end(true);
}

void Leftovers::kill_all() {
    kept_.clear();
    end(false);
}

int Leftovers::end(bool ask_first) {
    std::vector<pid_t> asked;
    const std::int64_t begun_ns = monotonic_ns();
    while (reap()) {
        const std::int64_t spent_ns = monotonic_ns() - begun_ns;
        bool any = false;
        for (const pid_t process : living_children()) {
            if (is_kept(process))
                continue;
            any = true;
            const bool known = std::ranges::find(asked, process) != asked.end();
            if (!known)
                asked.push_back(process);
            const bool force = !ask_first || spent_ns > grace_ns;
            if (force || !known)
                kill(process, force ? SIGKILL : SIGTERM);
        }
        if (!any)
            break;
        if (spent_ns > patience_ns) {
            throw Fatal(
                "A process that the program left behind cannot be ended; see 'ps' for process " +
                std::to_string(asked.back()) + ".");
        }
        rest();
    }
    return static_cast<int>(asked.size());
}

}  // namespace steelyard
