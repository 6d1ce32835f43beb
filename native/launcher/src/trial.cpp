#include "trial.hpp"

#include <cstring>

#include "clock.hpp"

namespace steelyard {

namespace {

std::string describe(const Failure& failure, const Command& command) {
    std::string text = "'" + command.path + "' was not run: cannot ";
    text += failure.step;
    text += std::string(": ") + std::strerror(failure.error) + ".";
    if (failure.error == ENOEXEC) {
        text += " A script needs a first line such as '#!/bin/sh'.";
    }
    return text;
}

/// Runs a preparation or clean-up; whether it exited with 0.
bool run_step(Bench& bench, const Command& command, std::string_view name, Record& record) {
    const Conditions none;
    const Execution execution = execute({command, none, bench.network}, 0, bench.watch);
    int exit_code = -1;
    if (execution.exited_with(exit_code) && exit_code == 0)
        return true;
    if (!record.reason.empty())
        return false;
    record.reason = execution.ending == Ending::output ? "output" : name;
    int signal = 0;
    if (execution.failure) {
        record.error = describe(execution.failure, command);
    } else if (execution.ended_by(signal)) {
        record.error = "'" + command.path + "' was ended by signal " + std::to_string(signal) + ".";
    } else {
        record.error = "'" + command.path + "' exited with " + std::to_string(exit_code) + ".";
    }
    return false;
}

std::string_view reason_of(const Execution& execution, const Program& program) {
    int exit_code = 0;
    if (execution.ending == Ending::timeout)
        return "timeout";
    if (execution.ending == Ending::output)
        return "output";
    if (!execution.exited_with(exit_code))
        return "signal";
    return program.expects(exit_code) ? "" : "exit";
}

/// Runs the program once without measuring it; whether it ended as it should.
bool warm_up(Bench& bench, const Program& program, Record& record) {
    if (!bench.streams.open_trial(program.input, record.order.position)) {
        record.reason = "spawn";
        record.error =
            "Its input '" + program.input + "' cannot be opened: " + std::strerror(errno) + ".";
        return false;
    }
    const Execution execution = execute({program.command, program.conditions, bench.network,
                                         bench.streams.input(), bench.streams.output()},
                                        program.timeout_ns, bench.watch);
    bench.leftovers.end_new();
    bench.streams.close_trial();
    const std::string_view reason = execution.failure ? "spawn" : reason_of(execution, program);
    if (reason.empty()) {
        bench.streams.take_errors(false);
        return true;
    }
    record.reason = "prepare";
    record.error = execution.failure ? describe(execution.failure, program.command)
                                     : "Its warm-up run failed (" + std::string(reason) + ").";
    return false;
}

void run_program(Bench& bench, const Program& program, Record& record) {
    if (!bench.streams.open_trial(program.input, record.order.position)) {
        record.reason = "spawn";
        record.error =
            "Its input '" + program.input + "' cannot be opened: " + std::strerror(errno) + ".";
        return;
    }
    const Start start{program.command, program.conditions, bench.network, bench.streams.input(),
                      bench.streams.output()};
    bench.counters.open();
    record.started_unix_ns = unix_ns();
    record.execution = execute(start, program.timeout_ns, bench.watch);
    bench.counters.read();
    record.output_path = bench.streams.output_path();
    if (record.execution.failure) {
        record.reason = "spawn";
        record.error = describe(record.execution.failure, program.command);
        return;
    }
    record.ran = true;
    record.reason = reason_of(record.execution, program);
}

}  // namespace

bool run_trial(Bench& bench, const Program& program, Record& record) {
    const std::int64_t begun_ns = monotonic_ns();
    record.started_unix_ns = unix_ns();
    bool prepared = true;
    if (program.prepare) {
        prepared = run_step(bench, *program.prepare, "prepare", record);
        bench.leftovers.keep_running();
    }
    for (std::int64_t run = 0; prepared && run < program.warmup_runs; ++run) {
        prepared = !bench.watch.stopped() && warm_up(bench, program, record);
    }
    if (prepared && !bench.watch.stopped())
        run_program(bench, program, record);
    record.leftover_processes = bench.leftovers.end_new();
    bench.streams.close_trial();
    if (program.cleanup && !bench.watch.stopped()) {
        run_step(bench, *program.cleanup, "cleanup", record);
    }
    if (program.prepare || program.cleanup)
        bench.leftovers.end_all();
    if (record.execution.ending == Ending::stopped || bench.watch.stopped())
        return false;
    record.stderr_tail = bench.streams.take_errors(!record.reason.empty());
    record.spent_ns = monotonic_ns() - begun_ns;
    return true;
}

}  // namespace steelyard
