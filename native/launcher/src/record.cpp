#include "record.hpp"

#include "fatal.hpp"
#include "json.hpp"

namespace steelyard {

namespace {

void key(std::string& out, std::string_view name) {
    if (out.back() != '{')
        out += ", ";
    out += '"';
    out += name;
    out += "\": ";
}

void member(std::string& out, std::string_view name, std::int64_t value) {
    key(out, name);
    append_integer(out, value);
}

void member(std::string& out, std::string_view name, std::string_view value) {
    key(out, name);
    append_string(out, value);
}

void flag(std::string& out, std::string_view name, bool value) {
    key(out, name);
    append_boolean(out, value);
}

void null(std::string& out, std::string_view name) {
    key(out, name);
    out += "null";
}

void append_order(std::string& out, const Order& order) {
    member(out, "trial", order.position);
    member(out, "block", order.block);
    member(out, "variant", order.variant);
    member(out, "build", order.build);
    flag(out, "warmup", order.warmup);
}

void append_status(std::string& out, const Record& record) {
    int exit_code = 0;
    int signal = 0;
    const bool exited = record.ran && record.execution.exited_with(exit_code);
    const bool signalled = record.ran && record.execution.ended_by(signal);
    member(out, "status", record.reason.empty() ? std::string_view("ok") : "failed");
    record.reason.empty() ? null(out, "reason") : member(out, "reason", record.reason);
    exited ? member(out, "exit_code", exit_code) : null(out, "exit_code");
    signalled ? member(out, "signal", signal) : null(out, "signal");
    if (!record.error.empty())
        member(out, "error", record.error);
}

std::int64_t microseconds(const timeval& time) {
    return time.tv_sec * 1'000'000 + time.tv_usec;
}

void append_usage(std::string& out, const rusage& usage) {
    key(out, "rusage");
    out += '{';
    member(out, "user_us", microseconds(usage.ru_utime));
    member(out, "system_us", microseconds(usage.ru_stime));
    member(out, "max_rss_kib", usage.ru_maxrss);
    member(out, "minor_faults", usage.ru_minflt);
    member(out, "major_faults", usage.ru_majflt);
    member(out, "voluntary_switches", usage.ru_nvcsw);
    member(out, "involuntary_switches", usage.ru_nivcsw);
    member(out, "blocks_in", usage.ru_inblock);
    member(out, "blocks_out", usage.ru_oublock);
    out += '}';
}

void append_counters(std::string& out, const Counters& counters) {
    key(out, "counters");
    out += '{';
    for (std::size_t index = 0; index < counters.size(); ++index) {
        const auto& count = counters.count(index);
        key(out, counters.name(index));
        if (!count) {
            out += "null";
            continue;
        }
        out += '{';
        member(out, "value", count->value);
        member(out, "enabled_ns", count->enabled_ns);
        member(out, "running_ns", count->running_ns);
        if (!count->kernel)
            flag(out, "kernel", false);
        out += '}';
    }
    out += '}';
}

void append_realised(std::string& out, const Program& program, const Realised& found) {
    const Conditions& asked = program.conditions;
    key(out, "realised");
    out += '{';
    if (asked.cpus)
        member(out, "cpus", cpu_list(found.cpus));
    if (asked.aslr)
        flag(out, "aslr", found.aslr);
    if (asked.nice)
        member(out, "nice", found.nice);
    if (asked.realtime_priority)
        member(out, "realtime_priority", found.realtime_priority);
    if (asked.private_network)
        flag(out, "private_network", true);
    if (asked.memory_nodes)
        member(out, "memory_nodes", bit_list(found.memory_nodes));
    if (asked.clock_shift_s)
        member(out, "clock_shift_s", found.clock_shift_s);
    // A trial whose warm-up failed was not run, so what was asked for is what was done.
    if (program.warmup_runs > 0)
        member(out, "warmup_runs", program.warmup_runs);
    out += '}';
}

}  // namespace

Order order_from(const Fields& fields) {
    if (fields.size() != 7)
        throw Fatal("A 'run' message to the launcher needs six numbers.");
    return {integer(fields[1]), integer(fields[2]), integer(fields[3]),
            integer(fields[4]), integer(fields[5]), integer(fields[6]) != 0};
}

void append_record(std::string& out, const Record& record, const Program& program,
                   const Counters& counters) {
    out += '{';
    append_order(out, record.order);
    append_status(out, record);
    member(out, "started_unix_ns", record.started_unix_ns);
    const Execution& execution = record.execution;
    record.ran ? member(out, "wall_ns", execution.end_ns - execution.start_ns)
               : null(out, "wall_ns");
    member(out, "spent_ns", record.spent_ns);
    record.ran ? append_usage(out, execution.usage) : null(out, "rusage");
    if (record.ran) {
        append_counters(out, counters);
    } else {
        null(out, "counters");
    }
    key(out, "output");
    if (record.ran && !record.output_path.empty()) {
        append_string(out, record.output_path, Invalid::surrogate);
    } else {
        out += "null";
    }
    member(out, "stderr_tail", record.stderr_tail);
    member(out, "leftover_processes", record.leftover_processes);
    if (record.ran)
        append_realised(out, program, execution.realised);
    out += "}\n";
}

}  // namespace steelyard
