#include "container.hpp"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

namespace steelyard {

namespace {

EntryFailure failed(const char* step) noexcept {
    return {step, errno};
}

}  // namespace

ContainerEntry::~ContainerEntry() {
    for (const std::vector<int>* files : {&groups_, &namespaces_}) {
        for (const int file : *files)
            close(file);
    }
}

EntryFailure ContainerEntry::open(const std::string& state) {
    std::ifstream file(state + "/entry");
    if (!file)
        return {"find its container", ENOENT};
    std::string line;
    std::string process;
    while (std::getline(file, line)) {
        if (line.starts_with("entrant "))
            process = "/proc/" + line.substr(8) + "/ns/";
        if (line.starts_with("namespaces ")) {
            // The one for its children last: with it, what is made next is inside.
            std::istringstream names(line.substr(11) + " pid_for_children");
            for (std::string name; names >> name;) {
                const int space = ::open((process + name).c_str(), O_RDONLY | O_CLOEXEC);
                if (space < 0)
                    return failed("open its container, which may have ended");
                namespaces_.push_back(space);
            }
        }
        if (const EntryFailure failure = take(line))
            return failure;
    }
    return {};
}

EntryFailure ContainerEntry::take(const std::string& line) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "user")
        words >> user_;
    if (name == "folder")
        folder_ = line.substr(7);
    if (name == "cgroup") {
        const int group = ::open(line.substr(7).c_str(), O_WRONLY | O_CLOEXEC);
        if (group < 0)
            return failed("open the control group of its container");
        groups_.push_back(group);
    }
    int resource = 0;
    rlim_t value = 0;
    if (name == "limit" && words >> resource >> value)
        limits_.emplace_back(resource, rlimit{value, value});
    return {};
}

EntryFailure ContainerEntry::enter() const noexcept {
    for (const int group : groups_) {
        if (write(group, "0", 1) != 1)
            return failed("enter the control group of its container");
    }
    for (const auto& [resource, limit] : limits_) {
        if (setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0)
            return failed("set the limits of its container");
    }
    if (user_ != 0)
        syscall(SYS_setgroups, 0, nullptr);  // Only root has some to give up.
    for (const int space : namespaces_) {
        if (setns(space, 0) != 0)
            return failed("enter its container");
    }
    // By the kernel's own calls: those of the library would look for threads of the launcher.
    if (user_ != 0 && (syscall(SYS_setresgid, user_, user_, user_) != 0 ||
                       syscall(SYS_setresuid, user_, user_, user_) != 0))
        return failed("become the user of its container");
    return {};
}

EntryFailure ContainerEntry::settle() const noexcept {
    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
    if (user_ != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return failed("give up new privileges");
    if (chdir(folder_.c_str()) != 0)
        return failed("enter its working directory");
    return {};
}

}  // namespace steelyard
