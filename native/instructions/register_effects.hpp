// Which general registers an instruction reads and writes.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "decode.hpp"

namespace steelyard {

/// Sets of registers: a bit for each, by the numbers that instructions have for them (rax is 0, rcx
/// 1, rdx 2, rbx 3, rsp 4, rbp 5, rsi 6, rdi 7, r8 8 ...). What is written in part counts as
/// written.
struct RegisterEffects {
    /// Those whose value it works with. One that is only stored, as functions with variable
    /// arguments do with all, or whose value does not matter (`xor` with itself), is not among
    /// them.
    std::uint16_t reads = 0;
    /// Those that it may write, and those that it surely does. They differ where it is not known.
    std::uint16_t may_write = 0;
    std::uint16_t writes = 0;
};

/// Of the instruction at the start of `code` (Intel SDM volume 2). Of one that is not known nothing
/// is read, and everything may be written.
RegisterEffects register_effects(const Instruction& instruction,
                                 std::span<const std::uint8_t> code);

/// The registers that ModRM and what belongs to it name.
struct RegisterOperands {
    std::uint8_t field = 0;
    std::optional<std::uint8_t> operand;      ///< the other one, unless it is in memory
    std::optional<std::uint8_t> base, index;  ///< of its address in memory
};

/// Of an instruction that has ModRM and is no vector instruction.
RegisterOperands register_operands(const Instruction& instruction,
                                   std::span<const std::uint8_t> code);

}  // namespace steelyard
