#include "command.hpp"

#include <algorithm>

#include "fatal.hpp"

namespace steelyard {

namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    result.reserve(strings.size() + 1);
    for (std::string& text : strings)
        result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

Command& present(std::optional<Command>& command) {
    if (!command)
        command.emplace();
    return *command;
}

cpu_set_t cpu_set(std::string_view numbers) {
    cpu_set_t result;
    CPU_ZERO(&result);
    while (!numbers.empty()) {
        const std::size_t comma = std::min(numbers.find(','), numbers.size());
        const std::int64_t cpu = integer(numbers.substr(0, comma));
        if (cpu < 0 || cpu >= CPU_SETSIZE)
            throw Fatal("There is no CPU " + std::to_string(cpu) + ".");
        CPU_SET(static_cast<std::size_t>(cpu), &result);
        numbers.remove_prefix(std::min(comma + 1, numbers.size()));
    }
    return result;
}

std::uint64_t bits(std::string_view numbers) {
    std::uint64_t result = 0;
    while (!numbers.empty()) {
        const std::size_t comma = std::min(numbers.find(','), numbers.size());
        const std::int64_t bit = integer(numbers.substr(0, comma));
        if (bit < 0 || bit >= 64)
            throw Fatal("There is no memory node " + std::to_string(bit) + ".");
        result |= std::uint64_t{1} << bit;
        numbers.remove_prefix(std::min(comma + 1, numbers.size()));
    }
    return result;
}

Limit limit_from(std::string_view text) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = text.substr(0, equals);
    const std::optional<int> resource = resource_by_name(name);
    if (!resource)
        throw Fatal("There is no resource limit '" + std::string(name) + "'.");
    const std::int64_t value = integer(text.substr(std::min(equals + 1, text.size())));
    return {*resource, value < 0 ? RLIM_INFINITY : static_cast<rlim_t>(value)};
}

void set_command(Program& program, std::string_view name, std::string_view value) {
    if (name == "path")
        program.command.path = value;
    if (name == "argument")
        program.command.arguments.emplace_back(value);
    if (name == "environment")
        program.command.environment.emplace_back(value);
    if (name == "directory")
        program.command.directory = value;
    if (name == "prepare-path")
        present(program.prepare).path = value;
    if (name == "prepare-argument")
        present(program.prepare).arguments.emplace_back(value);
    if (name == "cleanup-path")
        present(program.cleanup).path = value;
    if (name == "cleanup-argument")
        present(program.cleanup).arguments.emplace_back(value);
}

bool set_condition(Conditions& conditions, std::string_view name, std::string_view value) {
    if (name == "cpus") {
        conditions.cpus = cpu_set(value);
    } else if (name == "aslr") {
        conditions.aslr = integer(value) != 0;
    } else if (name == "nice") {
        conditions.nice = static_cast<int>(integer(value));
    } else if (name == "realtime-priority") {
        conditions.realtime_priority = static_cast<int>(integer(value));
    } else if (name == "limit") {
        conditions.limits.push_back(limit_from(value));
    } else if (name == "private-network") {
        conditions.private_network = integer(value) != 0;
    } else if (name == "memory-nodes") {
        conditions.memory_nodes = bits(value);
    } else if (name == "clock-shift-s") {
        conditions.clock_shift_s = integer(value);
    } else if (name == "container") {
        conditions.container = value;
    } else {
        return false;
    }
    return true;
}

bool names_command(std::string_view name) {
    constexpr std::string_view known[] = {"path",         "argument",        "environment",
                                          "directory",    "prepare-path",    "prepare-argument",
                                          "cleanup-path", "cleanup-argument"};
    return std::ranges::find(known, name) != std::ranges::end(known);
}

void set(Program& program, std::string_view name, std::string_view value) {
    if (names_command(name)) {
        set_command(program, name, value);
    } else if (name == "input") {
        program.input = value;
    } else if (name == "timeout-ns") {
        program.timeout_ns = integer(value);
    } else if (name == "warmup-runs") {
        program.warmup_runs = integer(value);
    } else if (name == "expected-exit-code") {
        program.expected_exit_codes.push_back(static_cast<int>(integer(value)));
    } else if (!set_condition(program.conditions, name, value)) {
        throw Fatal("The launcher does not know the property '" + std::string(name) + "'.");
    }
}

void complete(std::optional<Command>& step, const Command& main) {
    if (!step)
        return;
    step->environment = main.environment;
    step->directory = main.directory;
}

}  // namespace

void Command::seal() {
    argv_ = pointers(arguments);
    envp_ = pointers(environment);
}

bool Program::expects(int exit_code) const {
    return std::ranges::find(expected_exit_codes, exit_code) != expected_exit_codes.end();
}

Program program_from(const Fields& fields) {
    Program program;
    for (std::size_t at = 2; at + 1 < fields.size(); at += 2) {
        set(program, fields[at], fields[at + 1]);
    }
    complete(program.prepare, program.command);
    complete(program.cleanup, program.command);
    return program;
}

}  // namespace steelyard
