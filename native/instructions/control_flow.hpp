// Which instructions call, and which end the way that code is run.

#pragma once

#include "decode.hpp"

namespace steelyard {

/// What the three bits of ModRM say that extend an opcode or name a register.
inline std::uint8_t extension_of(const Instruction& instruction) {
    return instruction.modrm >> 3U & 7U;
}

/// `call *` and `jmp *`, of a register or of memory.
inline bool is_indirect_call(const Instruction& instruction) {
    return instruction.map == one_byte && !instruction.vector_encoding &&
           instruction.opcode == 0xff && extension_of(instruction) == 2;
}
inline bool is_indirect_jump(const Instruction& instruction) {
    return instruction.map == one_byte && !instruction.vector_encoding &&
           instruction.opcode == 0xff && extension_of(instruction) == 4;
}

inline bool is_call(const Instruction& instruction) {
    return instruction.field == Field::call || is_indirect_call(instruction);
}

/// Returns, jumps that are always taken, and what traps.
inline bool ends_way(const Instruction& instruction) {
    constexpr std::uint8_t return_near = 0xc3, return_popping = 0xc2, jump_near = 0xe9,
                           jump_short = 0xeb, halt = 0xf4, undefined = 0x0b, far_jump = 5;
    const std::uint8_t opcode = instruction.opcode;
    if (instruction.map == map_0f)
        return opcode == undefined && !instruction.vector_encoding;
    if (instruction.map != one_byte)
        return false;
    return opcode == return_near || opcode == return_popping || opcode == jump_near ||
           opcode == jump_short || opcode == halt || is_indirect_jump(instruction) ||
           (opcode == 0xff && extension_of(instruction) == far_jump);
}

/// What compilers put between two ways, mostly.
inline bool is_padding(const Instruction& instruction) {
    constexpr std::uint8_t no_operation = 0x90, long_no_operation = 0x1f;
    return (instruction.map == one_byte && instruction.opcode == no_operation) ||
           (instruction.map == map_0f && instruction.opcode == long_no_operation &&
            !instruction.vector_encoding);
}

}  // namespace steelyard
