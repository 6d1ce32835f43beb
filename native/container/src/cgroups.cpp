#include "cgroups.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace steelyard {

namespace {

const std::string mounted = "/sys/fs/cgroup/";
constexpr int most_looks = 500;

bool write_file(const std::string& path, const std::string& text) {
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool done = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    close(file);
    return done;
}

bool is_there(const std::string& path) {
    return access(path.c_str(), F_OK) == 0;
}

/// The group of this process in a hierarchy: that of `controller`, or of version 2 for "".
std::string own_group(const std::string& controller) {
    std::ifstream file("/proc/self/cgroup");
    std::string line;
    while (std::getline(file, line)) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos)
            continue;
        std::istringstream names(line.substr(first + 1, second - first - 1));
        std::string name;
        bool found = controller.empty() && second == first + 1;
        while (std::getline(names, name, ','))
            found = found || (!controller.empty() && name == controller);
        if (found)
            return line.substr(second + 1);
    }
    return "";
}

/// The number behind a word in a file of words and numbers.
std::int64_t number_after(const std::string& path, const std::string& wanted) {
    std::ifstream file(path);
    std::string word;
    std::int64_t value = 0;
    while (file >> word >> value) {
        if (word == wanted)
            return value;
    }
    return 0;
}

/// Removes the groups of containers whose keeper was killed. One that still holds processes stays.
void sweep(const std::string& above) {
    const std::string prefix = "steelyard-";
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(above, ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(prefix) && !is_there("/proc/" + name.substr(prefix.size())))
            rmdir(entry.path().c_str());
    }
}

}  // namespace

void Cgroups::make(const std::string& name, std::int64_t processes, std::int64_t memory_bytes) {
    if (is_there(mounted + "cgroup.controllers")) {
        make_in_version_2(name, processes, memory_bytes);
        return;
    }
    make_in_version_1("pids", name, processes);
    make_in_version_1("memory", name, memory_bytes);
}

void Cgroups::make_in_version_2(const std::string& name, std::int64_t processes,
                                std::int64_t memory_bytes) {
    // A group with processes cannot give controllers to groups below it, so that the new one
    // stands beside it, where this user may make one.
    const std::string own = own_group("");
    const std::string above = own.substr(0, own.rfind('/'));
    for (const std::string& parent : {own, above}) {
        const std::string folder = std::string(mounted).append(parent).append("/").append(name);
        sweep(mounted + parent);
        write_file(mounted + parent + "/cgroup.subtree_control", "+pids +memory");
        if (mkdir(folder.c_str(), 0700) != 0)
            continue;
        const auto limited = [&](const std::string& file, std::int64_t limit) {
            return limit != 0 &&
                   write_file(std::string(folder).append("/").append(file), std::to_string(limit));
        };
        limits_processes_ = limited("pids.max", processes);
        limits_memory_ = limited("memory.max", memory_bytes);
        write_file(folder + "/memory.swap.max", "0");
        write_file(folder + "/memory.oom.group", "1");
        if (limits_processes_ || limits_memory_) {
            folders_.push_back(folder);
            entries_.push_back(folder + "/cgroup.procs");
            return;
        }
        rmdir(folder.c_str());
    }
}

void Cgroups::make_in_version_1(const std::string& controller, const std::string& name,
                                std::int64_t limit) {
    const std::string above = mounted + controller + own_group(controller);
    if (limit == 0 || !is_there(above + "/tasks"))
        return;
    sweep(above);
    const std::string folder = above + "/" + name;
    if (mkdir(folder.c_str(), 0700) != 0)
        return;
    const bool processes = controller == "pids";
    const std::string file = processes ? "/pids.max" : "/memory.limit_in_bytes";
    if (!write_file(folder + file, std::to_string(limit))) {
        rmdir(folder.c_str());
        return;
    }
    if (!processes)  // Swap is counted with it where the kernel can.
        write_file(folder + "/memory.memsw.limit_in_bytes", std::to_string(limit));
    (processes ? limits_processes_ : limits_memory_) = true;
    folders_.push_back(folder);
    entries_.push_back(folder + "/cgroup.procs");
}

Refusals refusals_in(const std::string& folder) {
    return {number_after(folder + "/pids.events", "max"),
            number_after(folder + "/memory.events", "oom_kill") +
                number_after(folder + "/memory.oom_control", "oom_kill")};
}

void Cgroups::remove() {
    for (const std::string& folder : folders_) {
        const timespec pause{0, 2'000'000};
        for (int look = 0; rmdir(folder.c_str()) != 0 && errno == EBUSY && look < most_looks;
             ++look) {
            std::ifstream processes(folder + "/cgroup.procs");
            for (pid_t process = 0; processes >> process;)
                kill(process, SIGKILL);
            nanosleep(&pause, nullptr);
        }
    }
    folders_.clear();
}

}  // namespace steelyard
