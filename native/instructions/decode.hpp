// Decodes instructions of x86-64 as far as moving and comparing them takes: their length, where
// their operands lie, and the PC-relative field that changes when they move.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace steelyard {

/// What the PC-relative field of an instruction is for.
enum class Field : std::uint8_t {
    none,
    call,     ///< `call rel32`
    jump,     ///< `jmp` or a conditional jump, and `loop`, `jrcxz`, `xbegin`
    address,  ///< `lea`: the address itself is wanted
    memory,   ///< any other operand in memory
};

/// The opcode maps: one byte, 0F, 0F 38, 0F 3A, and AMD's 8, 9 and 10. VEX and EVEX name them by
/// number; 5 and 6 are EVEX's own.
enum Map : std::uint8_t { one_byte = 0, map_0f = 1, map_0f38 = 2, map_0f3a = 3 };

/// One instruction of x86-64, as far as moving and comparing it takes.
struct Instruction {
    std::uint8_t length = 0;
    Field field = Field::none;
    std::uint8_t field_offset = 0;
    std::uint8_t field_bytes = 0;  ///< 1 or 4
    std::uint8_t map = one_byte;
    std::uint8_t opcode = 0;
    std::uint8_t prefix = 0;  ///< 66, F2 or F3 where it is part of the opcode; F2 and F3 come first
    bool vector_encoding = false;    ///< VEX, EVEX or XOP
    std::uint8_t vector_bytes = 16;  ///< of a VEX or EVEX instruction
    bool wide = false;               ///< REX.W
    bool memory_operand = false;
    std::uint8_t modrm = 0;  ///< 0 where there is none
    std::uint8_t displacement_offset = 0;
    std::uint8_t displacement_bytes = 0;  ///< 0, 1 or 4; 0 where the field above is it
    std::uint8_t immediate_offset = 0;
    std::uint8_t immediate_bytes = 0;
};

/// Decode the instruction at the start of `code` (Intel SDM volume 2, appendix A; AMD APM volume 3,
/// appendix A). Nothing is given for what is no instruction of 64-bit mode, is cut off, or is
/// PC-relative in a way that a compiler does not write.
std::optional<Instruction> decode(std::span<const std::uint8_t> code);

/// How far behind its end the PC-relative field of the instruction at the start of `code` leads; 0
/// where it has none.
std::int64_t field_distance(const Instruction& instruction, std::span<const std::uint8_t> code);

}  // namespace steelyard
