#include "target.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "fatal.hpp"

namespace steelyard {

namespace {

std::uint64_t nanoseconds_of(const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_usec) * 1'000;
}

[[noreturn]] void become(const std::vector<char*>& command, int go, int failure) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    // Which the sampler ignores.
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    char word = 0;
    if (read(go, &word, 1) == 1)
        execvp(command.front(), command.data());
    const int error = errno;
    [[maybe_unused]] const auto written = write(failure, &error, sizeof error);
    _exit(127);
}

}  // namespace

Target::Target(const std::vector<char*>& command) : name_(command.front()) {
    std::array<int, 2> go{};
    std::array<int, 2> failure{};
    if (pipe2(go.data(), O_CLOEXEC) != 0 || pipe2(failure.data(), O_CLOEXEC) != 0)
        throw Fatal::with_errno("The sampler cannot start a program");
    process_ = fork();
    if (process_ < 0)
        throw Fatal::with_errno("The sampler cannot start a program");
    if (process_ == 0) {
        close(go[1]);
        become(command, go[0], failure[1]);
    }
    close(go[0]);
    close(failure[1]);
    go_ = go[1];
    failure_ = failure[0];
}

Target::~Target() {
    if (go_ >= 0)
        close(go_);  // one that was never released ends by itself
    close(failure_);
}

void Target::release() {
    const char word = 1;
    [[maybe_unused]] const auto written = write(go_, &word, 1);
    close(go_);
    go_ = -1;
    int error = 0;
    if (read(failure_, &error, sizeof error) == sizeof error) {
        waitpid(process_, nullptr, 0);
        errno = error;
        throw Fatal::with_errno("The program " + std::string(name_) + " cannot be started");
    }
}

void Target::tell(int signal) const {
    kill(process_, signal);
}

bool Target::ended(int& status) {
    rusage usage{};
    if (wait4(process_, &status, WNOHANG, &usage) != process_)
        return false;
    processor_ns_ = nanoseconds_of(usage.ru_utime) + nanoseconds_of(usage.ru_stime);
    return true;
}

}  // namespace steelyard
