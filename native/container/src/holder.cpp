#include "holder.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
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
#include "container_making.hpp"
#include "control.hpp"
#include "fatal.hpp"

namespace steelyard {

namespace {

constexpr int patience_ms = 30'000;
constexpr int most_looks_at_state = 2'500;

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
