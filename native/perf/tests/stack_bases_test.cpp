#include "stack_bases.hpp"

#include <cstdint>
#include <vector>

#include "tests.hpp"

namespace {

using steelyard::Comm;
using steelyard::StackBase;
using steelyard::StackBases;

constexpr std::uint32_t process = 50'000'001;
constexpr std::uint64_t stack = 0x7fff'0000;

/// Bases of a process that tells of no stack at its first `hidden` looks.
struct Looks {
    explicit Looks(unsigned hidden)
        : bases(
              "/nothing/noted", [](const auto&) { return std::nullopt; },
              [this](const StackBase& base) { told.push_back(base); },
              [this, hidden](std::uint32_t) { return ++looks > hidden ? stack : 0; }) {}

    unsigned looks = 0;
    std::vector<StackBase> told;
    StackBases bases;
};

}  // namespace

TEST("a process that a sample meets in the midst of execve is looked at again") {
    Looks exec(2);
    exec.bases.named(Comm{70, process, process, true, "program"});
    for (int sample = 0; sample < 5; ++sample)
        exec.bases.look_at(process);
    CHECK(exec.looks == 3);
    CHECK(exec.told.size() == 1);
    CHECK(exec.told.front().address == stack);
    CHECK(exec.told.front().time_ns == 70);
    CHECK(exec.bases.base_of(process, process) == stack);
}

TEST("a process whose stack nobody may know is not looked at for ever") {
    Looks closed(1'000'000);
    for (int sample = 0; sample < 1000; ++sample)
        closed.bases.look_at(process);
    CHECK(closed.looks < 100);
    CHECK(closed.told.empty());
    // What it runs then may be known.
    closed.bases.named(Comm{70, process, process, true, "program"});
    const unsigned before = closed.looks;
    closed.bases.look_at(process);
    CHECK(closed.looks == before + 1);
}
