#include "streams.hpp"

#include <unistd.h>

#include <fstream>
#include <string>

#include "in_child.hpp"
#include "temporary_folder.hpp"
#include "tests.hpp"

using namespace steelyard;

namespace {

bool put(int file, const std::string& text) {
    return write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

TEST("the launcher's own input is empty and its output goes nowhere") {
    const TemporaryFolder folder;
    CHECK(holds_in_child([&folder] {
        const Streams streams(folder.path(), false, 100);
        char byte = 0;
        return read(STDIN_FILENO, &byte, 1) == 0 && put(STDOUT_FILENO, "gone") &&
               streams.output() == -1 && streams.output_path().empty();
    }));
}

TEST("output is kept in a file of each trial where that is asked for") {
    const TemporaryFolder folder;
    CHECK(holds_in_child([&folder] {
        Streams streams(folder.path(), true, 100);
        const bool opened = streams.open_trial("", 7) && put(streams.output(), "seven");
        streams.close_trial();
        return opened && streams.output() == -1 && streams.output_path() == folder.at("7.out");
    }));
    CHECK(folder.content("7.out") == "seven");
}

TEST("an input that is not there is told, and nothing is opened") {
    const TemporaryFolder folder;
    CHECK(holds_in_child([&folder] {
        Streams streams(folder.path(), true, 100);
        return !streams.open_trial(folder.at("missing"), 1) && streams.input() == -1 &&
               streams.output() == -1;
    }));
}

TEST("output and errors beyond the cap are a flood, at the cap they are not") {
    const TemporaryFolder folder;
    CHECK(holds_in_child([&folder] {
        Streams streams(folder.path(), true, 4);
        streams.open_trial("", 1);
        const bool at_cap = put(streams.output(), "1234") && !streams.flooded();
        const bool beyond = put(streams.output(), "5") && streams.flooded();
        streams.close_trial();
        const bool calm = !streams.flooded();
        return at_cap && beyond && calm && put(STDERR_FILENO, "12345") && streams.flooded();
    }));
}

TEST("errors are given once, and of many the last four KiB") {
    const TemporaryFolder folder;
    CHECK(holds_in_child([&folder] {
        Streams streams(folder.path(), false, 100);
        put(STDERR_FILENO, "short");
        const bool once = streams.take_errors(true) == "short" && streams.take_errors(true).empty();
        put(STDERR_FILENO, std::string(5000, 'a') + "end");
        const std::string tail = streams.take_errors(true);
        put(STDERR_FILENO, "unwanted");
        return once && tail.size() == 4096 && tail.ends_with("aend") &&
               streams.take_errors(false).empty() && streams.take_errors(true).empty();
    }));
}
