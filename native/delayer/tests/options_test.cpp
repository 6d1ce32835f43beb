#include "options.hpp"

#include <array>

#include "fatal.hpp"
#include "tests.hpp"

namespace {

template <std::size_t count>
std::string refusal(std::array<const char*, count> words) {
    try {
        steelyard::options_from(const_cast<char**>(words.data()));
    } catch (const steelyard::Fatal& fatal) {
        return fatal.message;
    }
    return "";
}

}  // namespace

TEST("a command line says what is delayed, by how much, and with what around it") {
    std::array<const char*, 14> words{"--object", "a.out", "--offset", "4096",     "--turns",
                                      "7",        "--set", "A=B",      "--memory", "65536",
                                      "--",       "prog",  "--turns",  nullptr};
    const auto options = steelyard::options_from(const_cast<char**>(words.data()));
    CHECK(options.object == "a.out" && options.offset == 4096 && options.turns == 7);
    CHECK(options.memory_bytes == 65536);
    CHECK(options.environment.size() == 1 && options.environment[0] == "A=B");
    // What stands behind -- is the program's.
    CHECK(std::string(options.command[0]) == "prog");
    CHECK(std::string(options.command[1]) == "--turns");
}

TEST("a command line that is wrong is refused with its reason") {
    CHECK(refusal<3>({"--turns", "many", nullptr}).find("number") != std::string::npos);
    CHECK(refusal<3>({"--speed", "1", nullptr}).find("--speed") != std::string::npos);
    CHECK(refusal<2>({"--turns", nullptr}).find("wants a value") != std::string::npos);
    CHECK(refusal<3>({"--object", "a.out", nullptr}).find("Usage") != std::string::npos);
}
