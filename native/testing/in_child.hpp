// What changes the process that it runs in is tried in a child.

#pragma once

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/// Whether `body` gives true in a child of this process, within two minutes. An exception counts as
/// false.
template <typename Body>
bool holds_in_child(Body body) {
    const pid_t child = fork();
    if (child == 0) {
        bool holds = false;
        try {
            holds = body();
        } catch (...) {
            holds = false;
        }
        _exit(holds ? 0 : 1);
    }
    constexpr int most_looks = 60'000;
    const timespec pause{0, 2'000'000};
    int status = -1;
    for (int look = 0; look < most_looks; ++look) {
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        nanosleep(&pause, nullptr);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return false;
}
