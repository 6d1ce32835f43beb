// A row of the call frame table, and the registers that it is about (DWARF 5, section 6.4.1).

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace steelyard {

/// The registers of x86-64 by their numbers in DWARF; 16 is the address of the instruction.
constexpr std::size_t register_count = 17;
constexpr std::size_t frame_register = 6, stack_register = 7, address_register = 16;
using Registers = std::array<std::uint64_t, register_count>;

/// Where a register of the caller is, in the terms of DWARF 5, section 6.4.1; CFA is the canonical
/// frame address.
struct RegisterRule {
    enum class Kind : std::uint8_t {
        same_value,     ///< unchanged
        undefined,      ///< lost; of the return address: there is no caller
        offset,         ///< in memory, at the CFA plus `distance`
        val_offset,     ///< the CFA plus `distance`
        in_register,    ///< in another register, plus `distance`
        expression,     ///< in memory, at the address that an expression gives
        val_expression  ///< what an expression gives
    };
    Kind kind = Kind::same_value;
    std::uint8_t other_register = 0;
    std::int64_t distance = 0;
    std::span<const std::byte> program;
};

/// One row of the call frame table: what takes the frame at an instruction to that of its caller.
struct UnwindRow {
    RegisterRule cfa;
    std::array<RegisterRule, register_count> registers{};
    bool of_signal = false;  ///< the caller was interrupted, and not calling
};

}  // namespace steelyard
