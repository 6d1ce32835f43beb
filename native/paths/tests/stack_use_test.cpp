#include "stack_use.hpp"

#include <vector>

#include "tests.hpp"

namespace {

using steelyard::StackUse;

StackUse use_of(std::vector<std::uint8_t> code) {
    code.resize(32);
    const auto instruction = steelyard::decode(code);
    return instruction ? steelyard::stack_use(*instruction, code) : StackUse{};
}

}  // namespace

TEST("a number is taken from the stack pointer or added to it") {
    const StackUse small = use_of({0x48, 0x83, 0xec, 0x18});
    CHECK(small.kind == StackUse::Kind::allocate);
    CHECK(small.amount == 0x18);
    CHECK(small.amount_offset == 3);
    CHECK(small.amount_bytes == 1);
    const StackUse large = use_of({0x48, 0x81, 0xc4, 0x88, 0x01, 0, 0});
    CHECK(large.kind == StackUse::Kind::release);
    CHECK(large.amount == 0x188);
    CHECK(large.amount_bytes == 4);
    CHECK(use_of({0x48, 0x83, 0xec, 0x80}).amount == -128);
    // The same of r12, and of the lower half.
    CHECK(use_of({0x49, 0x83, 0xec, 0x18}).kind == StackUse::Kind::none);
    CHECK(use_of({0x83, 0xec, 0x18}).kind == StackUse::Kind::other);
}

TEST("operands relative to the stack pointer are found by SIB and its prefixes") {
    const StackUse load = use_of({0x48, 0x8b, 0x44, 0x24, 0x58});
    CHECK(load.has_operand);
    CHECK(!load.is_address);
    CHECK(!load.is_indexed);
    CHECK(load.displacement == 0x58);
    CHECK(load.displacement_offset == 4);
    CHECK(use_of({0x48, 0x8d, 0x84, 0x24, 0, 1, 0, 0}).is_address);
    CHECK(use_of({0x48, 0x8b, 0x44, 0xc4, 0x08}).is_indexed);
    // r12 is base; no base at all.
    CHECK(!use_of({0x49, 0x8b, 0x44, 0x24, 0x58}).has_operand);
    CHECK(!use_of({0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}).has_operand);
    // VEX with the stack pointer and with r12; EVEX scales a short displacement.
    CHECK(use_of({0xc5, 0xf8, 0x28, 0x44, 0x24, 0x10}).has_operand);
    CHECK(!use_of({0xc4, 0xc1, 0x78, 0x28, 0x44, 0x24, 0x10}).has_operand);
    CHECK(use_of({0x62, 0xf1, 0x7c, 0x48, 0x28, 0x44, 0x24, 0x01}).is_scaled);
}

TEST("operands relative to the frame pointer are found by ModRM and by SIB") {
    const StackUse load = use_of({0x8b, 0x45, 0x10});
    CHECK(load.has_frame_operand);
    CHECK(load.frame_displacement == 0x10);
    CHECK(use_of({0x48, 0x8b, 0x85, 0xf0, 0xff, 0xff, 0xff}).frame_displacement == -16);
    CHECK(use_of({0x8b, 0x44, 0x85, 0x18}).has_frame_operand);
    // Relative to the instruction, r13, and the register itself.
    CHECK(!use_of({0x8b, 0x05, 0, 0, 0, 0}).has_frame_operand);
    CHECK(!use_of({0x41, 0x8b, 0x45, 0x10}).has_frame_operand);
    CHECK(!use_of({0x89, 0xe8}).has_frame_operand);
}

TEST("what becomes of the stack pointer otherwise is told") {
    CHECK(use_of({0x55}).kind == StackUse::Kind::push);
    CHECK(use_of({0x41, 0x5c}).kind == StackUse::Kind::pop);
    CHECK(use_of({0x5c}).kind == StackUse::Kind::other);
    CHECK(use_of({0xc9}).kind == StackUse::Kind::by_frame_pointer);
    CHECK(use_of({0x48, 0x8d, 0x65, 0xd8}).kind == StackUse::Kind::by_frame_pointer);
    CHECK(use_of({0x48, 0x89, 0xec}).kind == StackUse::Kind::by_frame_pointer);
    CHECK(use_of({0x48, 0x89, 0xe5}).kind == StackUse::Kind::to_frame_pointer);
    CHECK(use_of({0x48, 0x89, 0xe0}).kind == StackUse::Kind::read);
    CHECK(use_of({0x48, 0x89, 0xc4}).kind == StackUse::Kind::other);
    CHECK(use_of({0x48, 0x8d, 0x64, 0x24, 0xf8}).kind == StackUse::Kind::other);
    CHECK(use_of({0x48, 0x83, 0xe4, 0xe0}).kind == StackUse::Kind::other);
    CHECK(use_of({0x48, 0x29, 0xc4}).kind == StackUse::Kind::other);
    // xmm4 and ah are other registers of number 4.
    CHECK(use_of({0x0f, 0x28, 0xe0}).kind == StackUse::Kind::none);
    CHECK(use_of({0x88, 0xe0}).kind == StackUse::Kind::none);
}
