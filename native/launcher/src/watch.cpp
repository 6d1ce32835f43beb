#include "watch.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "clock.hpp"

namespace steelyard {

namespace {

constexpr std::int64_t tick_ns = 100'000'000;

volatile std::sig_atomic_t stop_asked = 0;
volatile std::sig_atomic_t parent_signalled = 0;

void note_stop(int) {
    stop_asked = 1;
}
void note_parent(int) {
    parent_signalled = 1;
}
void wake(int) {}

/// Handlers instead of SIG_IGN, which a program would inherit; execve(2) resets handlers.
void handle(int signal, void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    sigaction(signal, &action, nullptr);
}

timeval to_timeval(std::int64_t duration_ns) {
    return {static_cast<time_t>(duration_ns / second_ns),
            static_cast<suseconds_t>(duration_ns % second_ns / 1000)};
}

void reset_inherited_signals() {
    for (int signal = 1; signal < NSIG; ++signal)
        std::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

void signal_group(pid_t group, int signal) {
    kill(-group, signal);
    kill(group, signal);
}

Watch::Watch(int requests, RecordSink& sink, Streams& streams)
    : requests_(requests), sink_(sink), streams_(streams) {
    reset_inherited_signals();
    handle(SIGTERM, note_stop);
    for (const int signal : {SIGALRM, SIGPIPE, SIGINT, SIGHUP, SIGQUIT}) {
        handle(signal, wake);
    }
    handle(SIGUSR1, note_parent);
    // Whoever dies after this is signalled; whoever died before has closed the pipe.
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
    parent_ = getppid();
    if (abandoned())
        stop_asked = 1;
}

bool Watch::stopped() const {
    // The kernel signals the end of the thread that started the launcher, which may not be the
    // end of its process.
    return stop_asked != 0 || (parent_signalled != 0 && getppid() != parent_);
}

bool Watch::abandoned() const {
    pollfd request{requests_, 0, 0};
    return stopped() || (poll(&request, 1, 0) == 1 && (request.revents & POLLHUP) != 0);
}

void Watch::arm(std::int64_t now_ns) const {
    std::int64_t first_ns = tick_ns;
    if (deadline_ns_ != 0)
        first_ns = std::clamp(deadline_ns_ - now_ns, std::int64_t{1000}, tick_ns);
    const itimerval timer{to_timeval(tick_ns), to_timeval(first_ns)};
    setitimer(ITIMER_REAL, &timer, nullptr);
}

void Watch::begin(std::int64_t timeout_ns) {
    const std::int64_t now_ns = monotonic_ns();
    ending_ = Ending::natural;
    deadline_ns_ = timeout_ns == 0 ? 0 : now_ns + timeout_ns;
    arm(now_ns);
}

void Watch::end_group(pid_t group, Ending why, int signal) {
    signal_group(group, signal);
    if (ending_ == Ending::natural || why == Ending::stopped)
        ending_ = why;
}

void Watch::look(pid_t group) {
    const std::int64_t now_ns = monotonic_ns();
    if (abandoned()) {
        end_group(group, Ending::stopped, SIGKILL);
    } else if (streams_.flooded()) {
        end_group(group, Ending::output, SIGKILL);
    } else if (deadline_ns_ != 0 && now_ns >= deadline_ns_) {
        const bool asked_before = ending_ == Ending::timeout;
        end_group(group, Ending::timeout, asked_before ? SIGKILL : SIGTERM);
        deadline_ns_ = now_ns + grace_ns;
    }
    sink_.flush_without_waiting();
    arm(now_ns);
}

}  // namespace steelyard
