#include "spawn.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "clock.hpp"
#include "container.hpp"
#include "fatal.hpp"

namespace steelyard {

namespace {

constexpr std::size_t child_stack_bytes = 64 * 1024;
alignas(64) char child_stack[child_stack_bytes];
alignas(64) char inner_stack[child_stack_bytes];

/// What the child needs and what it leaves for the launcher, in memory that both see.
struct Handover {
    const Start& start;
    pid_t launcher;
    Execution& execution;
    const ContainerEntry* container = nullptr;
    pid_t inner = -1;  ///< the program, where the child has made it inside a container
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

void become_program(const Command& command, Execution& execution) {
    execution.start_ns = monotonic_ns();
    execve(command.path.c_str(), command.argv(), command.envp());
    execution.failure = {"execute it", errno};
}

Failure to_failure(const EntryFailure& failure) noexcept {
    return {failure.step, failure.error};
}

/// The program to be, inside of the container.
int inner_child(void* argument) {
    const Handover& handover = *static_cast<Handover*>(argument);
    Execution& execution = handover.execution;
    setpgid(0, 0);
    // The launcher is its parent, but has no number here to compare with; a container ends with the
    // launcher all the same.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execution.failure = to_failure(handover.container->settle());
    if (!execution.failure)
        become_program(handover.start.command, execution);
    _exit(127);
}

/// Enters the container and makes the program there, as a child of the launcher like this one: a
/// process cannot change its own PID namespace.
[[noreturn]] void make_inner(Handover& handover) {
    Execution& execution = handover.execution;
    execution.failure = to_failure(handover.container->enter());
    if (!execution.failure) {
        handover.inner = clone(inner_child, inner_stack + child_stack_bytes,
                               CLONE_VM | CLONE_VFORK | CLONE_PARENT | SIGCHLD, &handover);
        if (handover.inner < 0)
            execution.failure = {"make a process for it in its container", errno};
    }
    _exit(127);
}

/// The child, on its own stack but in the memory of the launcher, which the kernel suspends
/// until execve(2) succeeds or the child exits.
int child(void* argument) {
    Handover& handover = *static_cast<Handover*>(argument);
    Execution& execution = handover.execution;
    execution.failure = ready(handover);
    if (!execution.failure && handover.container != nullptr)
        make_inner(handover);
    if (!execution.failure)
        become_program(handover.start.command, execution);
    _exit(127);
}

/// Waits for a process; interruptions are for the watch.
void await(pid_t process, Execution& execution, Watch& watch) {
    while (wait4(process, &execution.status, 0, &execution.usage) != process) {
        if (errno != EINTR)
            throw Fatal::with_errno("The launcher cannot wait for its child");
        watch.look(process);
    }
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
    ContainerEntry container;
    if (!start.conditions.container.empty()) {
        execution.failure = to_failure(container.open(start.conditions.container));
        if (execution.failure)
            return execution;
        handover.container = &container;
    }
    watch.begin(timeout_ns);
    pid_t pid =
        clone(child, child_stack + child_stack_bytes, CLONE_VM | CLONE_VFORK | SIGCHLD, &handover);
    if (pid < 0) {
        execution.failure = {"make a process for it", errno};
        return execution;
    }
    if (handover.container != nullptr) {
        await(pid, execution, watch);  // It has ended: the program is what it made.
        prctl(PR_SET_DUMPABLE, 1);  // Lost in the memory that both share when it changed its user.
        if (handover.inner < 0)
            return execution;
        pid = handover.inner;
    }
    await(pid, execution, watch);
    execution.end_ns = monotonic_ns();
    execution.ending = watch.ending();
    return execution;
}

}  // namespace steelyard
