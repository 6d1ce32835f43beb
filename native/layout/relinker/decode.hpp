// Decodes instructions of x86-64 as far as the relinker needs: their length, and the PC-relative
// field to change when they move.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace steelyard::layout {

/// What the PC-relative field of an instruction is for.
enum class Field : std::uint8_t {
    none,
    call,     ///< `call rel32`
    jump,     ///< `jmp` or a conditional jump, and `loop`, `jrcxz`, `xbegin`
    address,  ///< `lea`: the address itself is wanted
    memory,   ///< any other operand in memory
};

/// One instruction of x86-64, as far as moving it takes.
struct Instruction {
    std::uint8_t length = 0;
    Field field = Field::none;
    std::uint8_t field_offset = 0;
    std::uint8_t field_bytes = 0;  ///< 1 or 4
};

/// Decode the instruction at the start of `code` (Intel SDM volume 2, appendix A; AMD APM volume 3,
/// appendix A). Nothing is given for what is no instruction of 64-bit mode, is cut off, or is
/// PC-relative in a way that a compiler does not write.
std::optional<Instruction> decode(std::span<const std::uint8_t> code);

}  // namespace steelyard::layout
