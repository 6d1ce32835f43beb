#include "options.hpp"

#include <string>
#include <vector>

#include "fatal.hpp"
#include "tests.hpp"

namespace {

steelyard::Options options_of(std::vector<std::string> words) {
    words.insert(words.begin(), "recorder");
    std::vector<char*> pointers;
    pointers.reserve(words.size());
    for (std::string& word : words)
        pointers.push_back(word.data());
    return steelyard::options_from(static_cast<int>(pointers.size()), pointers.data());
}

bool is_refused(const std::vector<std::string>& words) {
    try {
        options_of(words);
    } catch (const steelyard::Fatal&) {
        return true;
    }
    return false;
}

}  // namespace

TEST("events are numbers, with a filter after a colon") {
    const auto options =
        options_of({"--process", "7", "--event", "31", "--event", "32:prev_state == 0"});
    CHECK(options.process == 7);
    CHECK(options.wanted.size() == 2);
    CHECK(options.wanted[0].number == 31 && options.wanted[0].filter.empty());
    CHECK(options.wanted[1].number == 32 && options.wanted[1].filter == "prev_state == 0");
    CHECK(!options.wanted[1].is_probe);
    CHECK(options_of({"--process", "7", "--probe", "33"}).wanted[0].is_probe);
}

TEST("with notes of stacks they are not copied") {
    CHECK(options_of({"--process", "7", "--event", "1", "--notes", "n"}).notes == "n");
    CHECK(options_of({"--process", "7", "--event", "1"}).notes.empty());
}

TEST("what is no number, unknown or missing is refused") {
    CHECK(is_refused({"--process", "7", "--event", "x"}));
    CHECK(is_refused({"--process", "7"}));
    CHECK(is_refused({"--event", "1"}));
    CHECK(is_refused({"--process", "7", "--event", "1", "--what", "2"}));
    CHECK(is_refused({"--process", "7", "--event"}));
}
