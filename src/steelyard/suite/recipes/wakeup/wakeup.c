/* How long a sleeping process waits for a CPU after it is woken, and how long its work then takes,
 * in the manner of the Latt benchmark.
 *
 *     wakeup INPUT CLIENTS WAKEUPS [-- PROGRAM ARGUMENT...]
 *
 * Each client is a process that sleeps on a pipe. It is woken at random times, compresses a block
 * of the input, and tells its latency (from before the pipe is written until it runs) and its time
 * of work. WAKEUPS is the number for all clients together. A program after `--`, or else the
 * shell command in WAKEUP_LOAD, runs beside them, again and again, as background load.
 *
 * Standard error has each wake-up as text; Steelyard is told the latency as the iteration's time,
 * and `work_time`. Standard output has the checksum of all compressed blocks, which no number of
 * wake-ups changes; a client whose result differs ends the program with status 1.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compressor.h"
#include "program.h"
#include "steelyard.h"

enum {
    BLOCK_BYTES = 32768,
    SHORTEST_SLEEP_US = 500,
    LONGEST_SLEEP_US = 6000,
    CLIENTS_LIMIT = 256,
};
static const int64_t NS_PER_S = 1000000000;
static const int64_t NS_PER_US = 1000;

struct task {
    int64_t woken_ns;
    uint64_t block;
};

struct result {
    int64_t latency_ns;
    int64_t work_ns;
    uint64_t block;
    uint64_t checksum;
};

struct client {
    pid_t process;
    int tasks;   /* to be written */
    int results; /* to be read */
    int64_t due_ns;
    int busy;
};

struct plan {
    struct client clients[CLIENTS_LIMIT];
    unsigned long client_count;
    unsigned long wakeups_left;
    uint64_t choices;
    uint64_t block_count;
    const uint64_t* expected;
};

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static uint64_t compressed_checksum(struct bytes input, uint64_t block) {
    unsigned char packed[2 * BLOCK_BYTES];
    const size_t start = (size_t)block * BLOCK_BYTES;
    const size_t left = input.size - start;
    const size_t size = left < BLOCK_BYTES ? left : BLOCK_BYTES;
    return checksum_bytes(CHECKSUM_START, packed, compress_block(input.data + start, size, packed));
}

/* A client's life: until the pipe is closed. */
static _Noreturn void serve(struct bytes input, int tasks, int results) {
    struct task task;
    while (read(tasks, &task, sizeof task) == (ssize_t)sizeof task) {
        const int64_t begin_ns = now_ns();
        struct result result = {begin_ns - task.woken_ns, 0, task.block, 0};
        result.checksum = compressed_checksum(input, task.block);
        result.work_ns = now_ns() - begin_ns;
        if (write(results, &result, sizeof result) != (ssize_t)sizeof result)
            _exit(2);
    }
    _exit(0);
}

static void start_client(struct plan* plan, unsigned long number, struct bytes input) {
    int tasks[2];
    int results[2];
    struct client* client = &plan->clients[number];
    if (pipe2(tasks, O_CLOEXEC) != 0 || pipe2(results, O_CLOEXEC) != 0)
        fail("pipe");
    client->process = fork();
    if (client->process < 0)
        fail("fork");
    if (client->process == 0) {
        for (unsigned long other = 0; other < number; ++other) /* or their ends would stay open */
            close(plan->clients[other].tasks);
        close(tasks[1]);
        close(results[0]);
        serve(input, tasks[0], results[1]);
    }
    close(tasks[0]);
    close(results[1]);
    client->tasks = tasks[1];
    client->results = results[0];
}

static void plan_wakeup(struct plan* plan, struct client* client) {
    const uint64_t span_us = LONGEST_SLEEP_US - SHORTEST_SLEEP_US;
    const uint64_t sleep_us = SHORTEST_SLEEP_US + next_below(&plan->choices, span_us);
    client->due_ns = now_ns() + (int64_t)sleep_us * NS_PER_US;
    client->busy = 0;
}

static void wake(struct plan* plan, struct client* client) {
    struct task task = {0, next_below(&plan->choices, plan->block_count)};
    client->busy = 1;
    --plan->wakeups_left;
    task.woken_ns = now_ns();
    if (write(client->tasks, &task, sizeof task) != (ssize_t)sizeof task)
        fail("a client is gone");
}

static void take(struct plan* plan, unsigned long number) {
    struct result result;
    struct client* client = &plan->clients[number];
    if (read(client->results, &result, sizeof result) != (ssize_t)sizeof result)
        fail("a client is gone");
    if (result.checksum != plan->expected[result.block]) {
        fprintf(stderr, "client %lu compressed block %" PRIu64 " to something else\n", number,
                result.block);
        exit(1);
    }
    fprintf(stderr, "client %lu: latency %.3f us, work %.3f us\n", number,
            (double)result.latency_ns * 1e-3, (double)result.work_ns * 1e-3);
    steelyard_iteration((double)result.latency_ns * 1e-9);
    steelyard_value("work_time", "s", (double)result.work_ns * 1e-9, 0);
    plan_wakeup(plan, client);
}

/* Wakes those that are due and gives the time until the next one is; -1: none will be. */
static int64_t wake_due(struct plan* plan) {
    int64_t next_ns = -1;
    for (unsigned long i = 0; i < plan->client_count && plan->wakeups_left > 0; ++i) {
        struct client* client = &plan->clients[i];
        const int64_t left_ns = client->due_ns - now_ns();
        if (client->busy)
            continue;
        if (left_ns <= 0)
            wake(plan, client);
        else if (next_ns < 0 || left_ns < next_ns)
            next_ns = left_ns;
    }
    return next_ns;
}

static int any_busy(const struct plan* plan) {
    for (unsigned long i = 0; i < plan->client_count; ++i) {
        if (plan->clients[i].busy)
            return 1;
    }
    return 0;
}

static void run(struct plan* plan) {
    struct pollfd ends[CLIENTS_LIMIT];
    for (unsigned long i = 0; i < plan->client_count; ++i) {
        ends[i] = (struct pollfd){plan->clients[i].results, POLLIN, 0};
        plan_wakeup(plan, &plan->clients[i]);
    }
    while (plan->wakeups_left > 0 || any_busy(plan)) {
        const int64_t wait_ns = wake_due(plan);
        const struct timespec wait = {wait_ns / NS_PER_S, wait_ns % NS_PER_S};
        if (ppoll(ends, plan->client_count, wait_ns < 0 ? NULL : &wait, NULL) < 0)
            fail("poll");
        for (unsigned long i = 0; i < plan->client_count; ++i) {
            if (ends[i].revents != 0)
                take(plan, i);
        }
    }
}

static void end_clients(struct plan* plan) {
    for (unsigned long i = 0; i < plan->client_count; ++i) {
        close(plan->clients[i].tasks);
        waitpid(plan->clients[i].process, NULL, 0);
    }
}

/* A process group of its own that runs the program until it is ended. */
static pid_t start_load(char** argv) {
    const pid_t keeper = fork();
    if (keeper < 0)
        fail("fork");
    if (keeper > 0) {
        setpgid(keeper, keeper);
        return keeper;
    }
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        int status = 0;
        const pid_t load = fork();
        if (load == 0) {
            const int nothing = open("/dev/null", O_RDWR);
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            dup2(nothing, STDIN_FILENO);
            dup2(nothing, STDOUT_FILENO);
            execvp(argv[0], argv);
            perror(argv[0]);
            _exit(127);
        }
        if (load < 0 || waitpid(load, &status, 0) < 0 || status != 0)
            _exit(1);
    }
}

/* The load that is asked for: 0 if none is. */
static pid_t start_wanted_load(int argc, char** argv) {
    static char shell[] = "/bin/sh";
    static char option[] = "-c";
    char* command = getenv("WAKEUP_LOAD");
    if (argc > 5)
        return start_load(argv + 5);
    if (command == NULL || command[0] == '\0')
        return 0;
    char* words[] = {shell, option, command, NULL};
    return start_load(words);
}

/* Ends the load. It has to have run to the end. */
static int end_load(pid_t keeper) {
    int status = 0;
    if (waitpid(keeper, &status, WNOHANG) == keeper) {
        fprintf(stderr, "the background load failed\n");
        return 1;
    }
    kill(-keeper, SIGKILL);
    waitpid(keeper, &status, 0);
    return 0;
}

int main(int argc, char** argv) {
    static struct plan plan;
    uint64_t sum = CHECKSUM_START;
    if (argc < 4 || (argc > 4 && (strcmp(argv[4], "--") != 0 || argc == 5))) {
        fprintf(stderr, "Usage: wakeup INPUT CLIENTS WAKEUPS [-- PROGRAM ARGUMENT...]\n");
        return 2;
    }
    const struct bytes input = read_input(argv[1]);
    plan.client_count = whole_number("CLIENTS", argv[2], 1);
    plan.wakeups_left = iteration_count(argv[3]);
    if (plan.client_count > CLIENTS_LIMIT) {
        errno = 0;
        fail("there can be 256 clients at most");
    }
    plan.block_count = (input.size + BLOCK_BYTES - 1) / BLOCK_BYTES;
    uint64_t* expected = allocate((size_t)plan.block_count * sizeof *expected);
    for (uint64_t block = 0; block < plan.block_count; ++block) {
        expected[block] = compressed_checksum(input, block);
        sum = checksum_add(sum, expected[block]);
    }
    plan.expected = expected;
    signal(SIGPIPE, SIG_IGN);
    for (unsigned long i = 0; i < plan.client_count; ++i)
        start_client(&plan, i, input);
    const pid_t load = start_wanted_load(argc, argv);
    run(&plan);
    if (load != 0 && end_load(load) != 0)
        return 1;
    end_clients(&plan); /* after the load, which has its own ends of their pipes */
    printf("wakeup %016" PRIx64 "\n", sum);
    return 0;
}
