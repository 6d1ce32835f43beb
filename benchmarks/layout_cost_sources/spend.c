/* Runs a program with its output thrown away and prints what it spent: user and system time
   together in microseconds, its largest resident set in KiB, its status. A process of its own, as
   the largest resident set of a child counts that of whoever forked it. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

int main(int count, char** words) {
    posix_spawn_file_actions_t actions;
    struct rusage used;
    pid_t child;
    int status;
    /* For the program alone, not for this one. */
    const char* preload = getenv("SPEND_PRELOAD");
    if (count < 2)
        return 2;
    if (preload != NULL)
        setenv("LD_PRELOAD", preload, 1);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    if (posix_spawn(&child, words[1], &actions, NULL, words + 1, environ) != 0)
        return 3;
    if (wait4(child, &status, 0, &used) != child)
        return 4;
    printf("%ld %ld %d\n",
           (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec +
               used.ru_stime.tv_usec,
           used.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
