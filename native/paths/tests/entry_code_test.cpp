#include "entry_code.hpp"

#include <vector>

#include "tests.hpp"

namespace {

using steelyard::PlannedFunction;
using steelyard::Unwatched;

PlannedFunction planned(std::vector<std::uint8_t> code, std::uint64_t room = 16) {
    PlannedFunction function{};
    function.start = 0x1000;
    function.end = function.start + code.size();
    code.resize(64);
    steelyard::plan_entry(function, code, function.start + room);
    return function;
}

}  // namespace

TEST("instructions are moved whole") {
    const auto function = planned({0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xc3});
    CHECK(function.unwatched == Unwatched::none);
    CHECK(function.replaced_bytes == 8);
    CHECK(function.moved_bytes == 8);
}

TEST("the mark of a branch target stays") {
    const auto function = planned({0xf3, 0x0f, 0x1e, 0xfa, 0x31, 0xc0, 0x48, 0x83, 0xec, 0x08});
    CHECK(function.place == 0x1004);
    CHECK(function.replaced_bytes == 6);
}

TEST("a short conditional jump becomes a near one to the same place") {
    const auto function = planned({0x85, 0xff, 0x74, 0x10, 0x31, 0xc0, 0xc3});
    CHECK(function.fixup_count == 1);
    CHECK(function.fixups[0].target == 0x1014);
    CHECK(function.moved[2] == 0x0f);
    CHECK(function.moved[3] == 0x84);
    CHECK(function.moved_bytes == 2 + 6 + 2);
}

TEST("an operand relative to the instruction keeps its place") {
    const auto function = planned({0x48, 0x8b, 0x05, 0x20, 0, 0, 0, 0xc3});
    CHECK(function.fixups[0].target == 0x1027);
    CHECK(function.fixups[0].field == 3);
    CHECK(function.fixups[0].end == 7);
}

TEST("a call at the entry returns to where it stood") {
    const auto function = planned({0x53, 0xe8, 1, 0, 0, 0, 0xc3});
    CHECK(function.unwatched == Unwatched::none);
    CHECK(function.fixups[0].target == 0x1006);
    CHECK(function.fixups[1].target == 0x1006);
    CHECK(function.fixups[2].target == 0x1007);
    CHECK(function.moved_bytes == 1 + 5 + 8 + 5);
}

TEST("a call through a register or a table becomes a jump behind the address it returns to") {
    const auto by_register = planned({0x50, 0x55, 0x41, 0xff, 0xd4, 0x90, 0xc3});
    CHECK(by_register.unwatched == Unwatched::none);
    CHECK(by_register.moved[2 + 5 + 8 + 2] == 0xe4);
    const auto by_table = planned({0xff, 0x15, 0x10, 0, 0, 0, 0xc3});
    CHECK(by_table.moved[5 + 8 + 1] == 0x25);
    CHECK(by_table.fixups[2].target == 0x1016);
}

TEST("a call that would return to what the jump replaces is not moved") {
    CHECK(planned({0x50, 0xff, 0xd7, 0x59, 0xc3}).unwatched == Unwatched::unreadable);
    CHECK(planned({0x50, 0x41, 0xff, 0xd4, 0x90, 0xc3}).unwatched == Unwatched::unreadable);
}

TEST("a call by a table on the stack is not moved") {
    CHECK(planned({0xff, 0x54, 0x24, 0x08, 0x90}).unwatched == Unwatched::unreadable);
}

TEST("a short function is watched where padding follows, and else not") {
    CHECK(planned({0xc3}).unwatched == Unwatched::none);
    CHECK(planned({0xc3}, 4).unwatched == Unwatched::too_short);
}
