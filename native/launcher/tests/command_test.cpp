#include "command.hpp"

#include <string>

#include "fatal.hpp"
#include "tests.hpp"

using namespace steelyard;

namespace {

bool is_refused(std::string_view name, std::string_view value) {
    try {
        program_from({"program", "0", name, value});
    } catch (const Fatal&) {
        return true;
    }
    return false;
}

}  // namespace

TEST("a program has the arguments and variables of its message, in their order") {
    Program program = program_from({"program", "0", "path", "/bin/echo", "argument", "echo",
                                    "argument", "", "environment", "A=1", "timeout-ns", "5"});
    program.command.seal();
    CHECK(program.command.path == "/bin/echo");
    CHECK(std::string(program.command.argv()[0]) == "echo");
    CHECK(std::string(program.command.argv()[1]).empty());
    CHECK(program.command.argv()[2] == nullptr);
    CHECK(std::string(program.command.envp()[0]) == "A=1");
    CHECK(program.command.envp()[1] == nullptr);
    CHECK(program.timeout_ns == 5);
    CHECK(!program.prepare && !program.cleanup);
}

TEST("what is run before and after has the environment and the folder of the program") {
    const Program program = program_from({"program", "0", "prepare-path", "/bin/a", "cleanup-path",
                                          "/bin/b", "environment", "A=1", "directory", "/tmp"});
    CHECK(program.prepare && program.prepare->path == "/bin/a");
    CHECK(program.prepare && program.prepare->environment == program.command.environment);
    CHECK(program.cleanup && program.cleanup->directory == "/tmp");
}

TEST("exit codes are expected only where the message names them") {
    const Program program =
        program_from({"program", "0", "expected-exit-code", "0", "expected-exit-code", "3"});
    CHECK(program.expects(0) && program.expects(3));
    CHECK(!program.expects(1));
}

TEST("conditions are those of the message, and absent ones stay unset") {
    const Program program = program_from({"program", "0", "cpus", "0,2", "aslr", "0", "limit",
                                          "NOFILE=64", "limit", "CORE=-1", "memory-nodes", "1"});
    const Conditions& asked = program.conditions;
    CHECK(asked.cpus && CPU_COUNT(&*asked.cpus) == 2 && CPU_ISSET(2, &*asked.cpus));
    CHECK(asked.aslr == false);
    CHECK(asked.memory_nodes == 2U);
    CHECK(asked.limits.size() == 2);
    CHECK(asked.limits.at(0).resource == RLIMIT_NOFILE && asked.limits.at(0).value == 64);
    CHECK(asked.limits.at(1).value == RLIM_INFINITY);
    CHECK(!asked.nice && !asked.realtime_priority && !asked.clock_shift_s);
    CHECK(!asked.private_network);
}

TEST("properties, CPUs, nodes, limits and numbers that do not exist are refused") {
    CHECK(is_refused("colour", "red"));
    CHECK(is_refused("cpus", "100000"));
    CHECK(is_refused("cpus", "-1"));
    CHECK(is_refused("memory-nodes", "64"));
    CHECK(is_refused("limit", "PATIENCE=1"));
    CHECK(is_refused("limit", "NOFILE=many"));
    CHECK(is_refused("nice", "1x"));
    CHECK(!is_refused("nice", "-5"));
}
