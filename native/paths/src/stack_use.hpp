// What an instruction does with the stack pointer.

#pragma once

#include <cstdint>
#include <span>

#include "decode.hpp"

namespace steelyard {

/// What becomes of the stack pointer, and where the operands lie that say by how much.
struct StackUse {
    enum class Kind : std::uint8_t {
        none,
        push,
        pop,
        allocate,          ///< `sub $amount, %rsp`
        release,           ///< `add $amount, %rsp`
        by_frame_pointer,  ///< `leave`, or taken from the frame pointer
        to_frame_pointer,  ///< `mov %rsp, %rbp`
        read,              ///< copied into another register
        other,             ///< written in another way, or computed with
    };
    Kind kind = Kind::none;
    std::int64_t amount = 0;
    /// Of `amount`: offset in the instruction and bytes.
    std::uint8_t amount_offset = 0, amount_bytes = 0;

    /// Whether there is an operand in memory relative to the stack pointer; it is an address alone
    /// with `lea`.
    bool has_operand = false;
    bool is_indexed = false, is_address = false;
    /// Its displacement cannot be read here, as EVEX scales it.
    bool is_scaled = false;
    std::int64_t displacement = 0;
    std::uint8_t displacement_offset = 0, displacement_bytes = 0;

    /// Whether there is an operand in memory relative to the frame pointer, and how far from it.
    bool has_frame_operand = false;
    std::int64_t frame_displacement = 0;
};

/// What the instruction at the start of `code` does.
StackUse stack_use(const Instruction& instruction, std::span<const std::uint8_t> code);

}  // namespace steelyard
