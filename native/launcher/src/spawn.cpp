#include "spawn.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "clock.hpp"
#include "fatal.hpp"

namespace steelyard {

namespace {

constexpr std::size_t child_stack_bytes = 64 * 1024;
alignas(64) char child_stack[child_stack_bytes];

/// What the child needs and what it leaves for the launcher, in memory that both see.
struct Handover {
    const Start& start;
    pid_t launcher;
    Execution& execution;
};

bool redirect(int from, int to) {
    return from < 0 || dup2(from, to) >= 0;
}

Failure ready(const Handover& handover) noexcept {
    const Start& start = handover.start;
    setpgid(0, 0);
    // The program does not outlive a launcher that is killed, nor one that was just before.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != handover.launcher)
        return {"find the launcher", ESRCH};
    if (!redirect(start.input, STDIN_FILENO) || !redirect(start.output, STDOUT_FILENO)) {
        return {"redirect its streams", errno};
    }
    const Failure failure = apply(start.conditions, start.network, handover.execution.realised);
    if (failure)
        return failure;
    if (!start.command.directory.empty() && chdir(start.command.directory.c_str()) != 0) {
        return {"enter its working directory", errno};
    }
    return {};
}

/// The child, on its own stack but in the memory of the launcher, which the kernel suspends
/// until execve(2) succeeds or the child exits.
int child(void* argument) {
    const Handover& handover = *static_cast<Handover*>(argument);
    const Command& command = handover.start.command;
    Execution& execution = handover.execution;
    execution.failure = ready(handover);
    if (!execution.failure) {
        execution.start_ns = monotonic_ns();
        execve(command.path.c_str(), command.argv(), command.envp());
        execution.failure = {"execute it", errno};
    }
    _exit(127);
}

}  // namespace

bool Execution::exited_with(int& exit_code) const {
    if (failure || !WIFEXITED(status))
        return false;
    exit_code = WEXITSTATUS(status);
    return true;
}

bool Execution::ended_by(int& signal) const {
    if (failure || !WIFSIGNALED(status))
        return false;
    signal = WTERMSIG(status);
    return true;
}

Execution execute(const Start& start, std::int64_t timeout_ns, Watch& watch) {
    Execution execution;
    static const pid_t launcher = getpid();
    Handover handover{start, launcher, execution};
    watch.begin(timeout_ns);
    const pid_t pid =
        clone(child, child_stack + child_stack_bytes, CLONE_VM | CLONE_VFORK | SIGCHLD, &handover);
    if (pid < 0) {
        execution.failure = {"make a process for it", errno};
        return execution;
    }
    while (wait4(pid, &execution.status, 0, &execution.usage) != pid) {
        if (errno != EINTR)
            throw Fatal::with_errno("The launcher cannot wait for its child");
        watch.look(pid);
    }
    execution.end_ns = monotonic_ns();
    execution.ending = watch.ending();
    return execution;
}

}  // namespace steelyard
