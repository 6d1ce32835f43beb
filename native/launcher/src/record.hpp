// The record of one trial: which one was ordered, what came of it, and its line of JSON in the
// journal.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "command.hpp"
#include "counters.hpp"
#include "spawn.hpp"

namespace steelyard {

/// Which trial is to be run: its place in the plan and the program that it runs.
struct Order {
    std::int64_t position = 0;
    std::int64_t block = 0;
    std::int64_t program = 0;
    std::int64_t variant = 0;
    std::int64_t build = 0;
    bool warmup = false;
};

/// An order from the fields of its message. Throws Fatal where it is not complete.
Order order_from(const Fields& fields);

/// What came of a trial.
struct Record {
    Order order;
    std::string_view reason;  ///< of the failure; empty where there was none
    std::string error;        ///< what kept it from running, for a person
    Execution execution;
    bool ran = false;  ///< whether the program was started
    std::int64_t started_unix_ns = 0;
    std::int64_t spent_ns = 0;
    int leftover_processes = 0;
    std::string output_path;
    std::string stderr_tail;
};

/// Appends the record as a line of JSON.
void append_record(std::string& out, const Record& record, const Program& program,
                   const Counters& counters);

}  // namespace steelyard
