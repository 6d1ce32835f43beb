#include "clean_process.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

namespace steelyard {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& strings) {
    std::vector<char*> result;
    result.reserve(strings.size() + 1);
    for (const std::string& text : strings)
        result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

void limit(__rlimit_resource resource, std::int64_t value) {
    const rlimit both{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
    setrlimit(resource, &both);
}

void reset_signals() {
    for (int signal = 1; signal < NSIG; ++signal)
        std::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool give_up_privileges(uid_t user) {
    if (user == 0)
        return true;
    setgroups(0, nullptr);  // Where groups may not be set there were none to give up.
    return setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0;
}

}  // namespace

void become(const Place& place, const std::vector<std::string>& command,
            const std::vector<std::string>& environment, int output, int errors) {
    reset_signals();
    setsid();
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0)
        _exit(126);
    for (const int group : place.cgroups) {
        if (write(group, "0", 1) != 1)
            _exit(126);
    }
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    syscall(SYS_close_range, 3, ~0U, 0);
    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
    limit(RLIMIT_CORE, 0);
    if (place.processes != 0)
        limit(RLIMIT_NPROC, place.processes);
    if (place.data_bytes != 0)
        limit(RLIMIT_DATA, place.data_bytes);
    bool ready = chdir(place.folder.c_str()) == 0 && give_up_privileges(place.user);
    if (place.user != 0)
        ready = ready && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    const std::vector<char*> words = pointers(command);
    const std::vector<char*> variables = pointers(environment);
    if (ready)
        execve(words[0], words.data(), variables.data());
    dprintf(STDERR_FILENO, "%s cannot be executed: %s.\n", words[0], std::strerror(errno));
    _exit(127);
}

}  // namespace steelyard
