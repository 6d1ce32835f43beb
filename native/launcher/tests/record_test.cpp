#include "record.hpp"

#include "fatal.hpp"
#include "tests.hpp"

using namespace steelyard;

namespace {

std::string line_of(const Record& record, const Program& program = {}) {
    std::string out;
    append_record(out, record, program, Counters());
    return out;
}

bool has(const std::string& line, std::string_view part) {
    return line.find(part) != std::string::npos;
}

Record ended_with(int status) {
    Record record;
    record.ran = true;
    record.execution.start_ns = 1000;
    record.execution.end_ns = 3500;
    record.execution.status = status;
    return record;
}

}  // namespace

TEST("an order is read from six numbers, and from nothing else") {
    const Order order = order_from({"run", "7", "3", "1", "2", "4", "1"});
    CHECK(order.position == 7 && order.block == 3 && order.program == 1);
    CHECK(order.variant == 2 && order.build == 4 && order.warmup);
    bool refused = false;
    try {
        order_from({"run", "7", "3"});
    } catch (const Fatal&) {
        refused = true;
    }
    CHECK(refused);
}

TEST("a trial that exited has its code, its time and one line") {
    const std::string line = line_of(ended_with(3 << 8));
    CHECK(has(line, "\"status\": \"ok\", \"reason\": null, \"exit_code\": 3, \"signal\": null"));
    CHECK(has(line, "\"wall_ns\": 2500"));
    CHECK(line.back() == '\n' && line.find('\n') == line.size() - 1);
}

TEST("a trial that a signal ended has the signal and no exit code") {
    CHECK(has(line_of(ended_with(11)), "\"exit_code\": null, \"signal\": 11"));
}

TEST("a trial that was not started has no times, and says why") {
    Record record;
    record.reason = "start";
    record.error = "cannot \"start\"\n";
    const std::string line = line_of(record);
    CHECK(has(line, "\"status\": \"failed\", \"reason\": \"start\""));
    CHECK(has(line, "\"error\": \"cannot \\\"start\\\"\\n\""));
    CHECK(has(line, "\"wall_ns\": null") && has(line, "\"rusage\": null"));
    CHECK(!has(line, "realised"));
}

TEST("what was realised is told of what was asked for alone") {
    Program program;
    program.conditions.nice = 5;
    Record record = ended_with(0);
    record.execution.realised.nice = 4;
    CHECK(has(line_of(record, program), "\"realised\": {\"nice\": 4}"));
    CHECK(has(line_of(record), "\"realised\": {}"));
}

TEST("bytes that are no UTF-8 in a program's errors leave a line of valid text") {
    Record record = ended_with(0);
    record.stderr_tail = "a\xff\n";
    const std::string line = line_of(record);
    CHECK(!has(line, "\xff"));
    CHECK(has(line, "\"stderr_tail\": \"a"));
}
