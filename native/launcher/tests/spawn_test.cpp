#include "spawn.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "in_child.hpp"
#include "temporary_folder.hpp"
#include "tests.hpp"

using namespace steelyard;

namespace {

/// What a launcher has around a trial, in a child of the test.
struct Bench {
    Bench(const TemporaryFolder& folder, std::int64_t cap_bytes)
        : requests(ends()),
          replies(ends()),
          sink(replies[1]),
          streams(folder.path(), true, cap_bytes),
          watch(requests[0], sink, streams) {
        streams.open_trial("", 1);
    }
    Execution run(Command command, std::int64_t timeout_ns = 0, const Conditions& asked = {}) {
        command.seal();
        return execute({command, asked, network, streams.input(), streams.output()}, timeout_ns,
                       watch);
    }
    static std::vector<int> ends() {
        int made[2] = {-1, -1};
        return pipe2(made, O_CLOEXEC) == 0 ? std::vector<int>{made[0], made[1]}
                                           : std::vector<int>{-1, -1};
    }

    std::vector<int> requests;
    std::vector<int> replies;
    RecordSink sink;
    Streams streams;
    PrivateNetwork network;
    Watch watch;
};

/// Whether `body` holds of what a launcher has, in a child of the test.
template <typename Body>
bool in_launcher(const TemporaryFolder& folder, Body body, std::int64_t cap_bytes = 1 << 20) {
    return holds_in_child([&] {
        Bench bench(folder, cap_bytes);
        return body(bench);
    });
}

Command shell(const std::string& text) {
    Command command;
    command.path = "/bin/sh";
    command.arguments = {"sh", "-c", text};
    return command;
}

}  // namespace

TEST("a program's exit code, time and output are its own") {
    const TemporaryFolder folder;
    CHECK(in_launcher(folder, [](Bench& bench) {
        const Execution done = bench.run(shell("echo said; exit 7"));
        int code = 0;
        int signal = 0;
        return done.exited_with(code) && code == 7 && !done.ended_by(signal) &&
               done.end_ns > done.start_ns && done.start_ns > 0 && done.ending == Ending::natural;
    }));
    CHECK(folder.content("1.out") == "said\n");
}

TEST("a program that a signal ends is told from one that exits") {
    const TemporaryFolder folder;
    CHECK(in_launcher(folder, [](Bench& bench) {
        const Execution done = bench.run(shell("kill -9 $$"));
        int code = 0;
        int signal = 0;
        return !done.exited_with(code) && done.ended_by(signal) && signal == SIGKILL;
    }));
}

TEST("what kept a program from starting is named, and is no exit code of its") {
    const TemporaryFolder folder;
    CHECK(in_launcher(folder, [&folder](Bench& bench) {
        Command missing = shell("");
        missing.path = folder.at("missing");
        const Execution unmade = bench.run(missing);
        Command homeless = shell("exit 0");
        homeless.directory = folder.at("missing");
        const Execution lost = bench.run(homeless);
        int code = 0;
        return unmade.failure && unmade.failure.error == ENOENT && !unmade.exited_with(code) &&
               std::strcmp(lost.failure.step, "enter its working directory") == 0;
    }));
}

TEST("a program beyond its time is ended, with what it started and does not end by itself") {
    const TemporaryFolder folder;
    CHECK(in_launcher(folder, [](Bench& bench) {
        const Execution done = bench.run(shell("trap '' TERM; sleep 1000; sleep 1000"), 50'000'000);
        int signal = 0;
        return done.ending == Ending::timeout && done.ended_by(signal) && signal == SIGKILL;
    }));
}

TEST("a program that floods its output is ended") {
    const TemporaryFolder folder;
    const auto floods = [](Bench& bench) {
        return bench.run(shell("while :; do echo 0123456789; done")).ending == Ending::output;
    };
    CHECK(in_launcher(folder, floods, 1000));
}

TEST("a program ends when nobody wants its result any more") {
    const TemporaryFolder folder;
    CHECK(in_launcher(folder, [](Bench& bench) {
        close(bench.requests[1]);
        return bench.run(shell("sleep 1000")).ending == Ending::stopped;
    }));
}

TEST("conditions hold in the program, are read back, and stay away from the launcher") {
    const TemporaryFolder folder;
    CHECK(in_launcher(folder, [](Bench& bench) {
        Conditions asked;
        asked.nice = 7;
        asked.aslr = false;
        asked.limits = {{RLIMIT_NOFILE, 33}};
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
        asked.cpus = one;
        rlimit before{};
        getrlimit(RLIMIT_NOFILE, &before);
        const Execution done = bench.run(shell("ulimit -n; nice"), 0, asked);
        rlimit after{};
        getrlimit(RLIMIT_NOFILE, &after);
        return !done.failure && done.realised.nice == 7 && !done.realised.aslr &&
               CPU_EQUAL(&done.realised.cpus, &one) && before.rlim_cur == after.rlim_cur;
    }));
    CHECK(folder.content("1.out") == "33\n7\n");
}

TEST("a condition that cannot be met is told, and the program does not run") {
    const TemporaryFolder folder;
    CHECK(in_launcher(folder, [](Bench& bench) {
        Conditions asked;
        cpu_set_t none;
        CPU_ZERO(&none);
        asked.cpus = none;
        const Execution done = bench.run(shell("echo ran"), 0, asked);
        return done.failure && done.failure.error == EINVAL;
    }));
    CHECK(folder.content("1.out").empty());
}
