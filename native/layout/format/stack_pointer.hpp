// What an instruction of x86-64 takes the stack pointer from. Code that switches stacks by itself
// takes it from elsewhere than its own frame; so does a compiler for arrays of variable length,
// but then the function has a frame pointer that it ends with.

#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard::layout {

enum class StackPointer : std::uint8_t {
    kept,         ///< or moved by a number, a push, a call
    from_frame,   ///< of the frame pointer, or of memory by that or by itself
    of_register,  ///< any other
    of_memory,    ///< by any other register, or at a place of its own
};

/// `code` is one instruction, or what may be one of four bytes or more. Without a prefix for 64
/// bits no instruction is one that sets the stack pointer, but for those of a single byte, which
/// are only looked at where `is_instruction`. (Intel SDM volume 2, tables 2-2 and A-2.)
inline StackPointer stack_pointer_of(const std::uint8_t* code, std::size_t size,
                                     bool is_instruction) {
    constexpr unsigned stack = 4, frame = 5, in_register = 3;
    constexpr std::uint8_t leave = 0xc9, pop_stack = 0x5c, exchange_short = 0x94;
    if (is_instruction && size == 1) {
        if (code[0] == leave)
            return StackPointer::from_frame;
        return code[0] == pop_stack ? StackPointer::of_memory : StackPointer::kept;
    }
    const bool is_wide = size >= 2 && (code[0] & 0xf8U) == 0x48;
    if (!is_wide)
        return StackPointer::kept;
    const bool reg_extended = (code[0] & 4U) != 0;
    const bool index_extended = (code[0] & 2U) != 0;
    const bool base_extended = (code[0] & 1U) != 0;
    if (size == 2)
        return is_instruction && code[1] == exchange_short && !base_extended
                   ? StackPointer::of_register
                   : StackPointer::kept;
    const unsigned mode = code[2] >> 6U;
    const unsigned reg = (code[2] >> 3U) & 7U;
    const unsigned rm = code[2] & 7U;
    const bool sets_rm = mode == in_register && rm == stack && !base_extended;
    const bool sets_reg = reg == stack && !reg_extended;
    constexpr std::uint8_t move_to_rm = 0x89, move_to_reg = 0x8b, exchange = 0x87, address = 0x8d;
    if ((code[1] == move_to_rm && sets_rm) || (code[1] == exchange && sets_rm))
        return reg == frame && !reg_extended ? StackPointer::from_frame : StackPointer::of_register;
    if (!sets_reg || (code[1] != move_to_reg && code[1] != exchange && code[1] != address))
        return StackPointer::kept;
    if (mode == in_register)
        return rm == frame && !base_extended ? StackPointer::from_frame : StackPointer::of_register;
    const bool has_index = rm == stack;
    if (has_index && size < 4)
        return StackPointer::kept;
    const unsigned base = has_index ? code[3] & 7U : rm;
    const bool is_indexed = has_index && (((code[3] >> 3U) & 7U) != stack || index_extended);
    const bool has_base = base != frame || mode != 0;
    const bool is_own = !base_extended && has_base && (base == frame || base == stack);
    if (is_own && !is_indexed)
        return StackPointer::from_frame;
    return code[1] == address ? StackPointer::of_register : StackPointer::of_memory;
}

/// Whether bytes that were not decoded may hold an instruction that switches stacks.
inline bool may_switch_stacks(const std::uint8_t* code, std::size_t size) {
    constexpr std::size_t looked_at_bytes = 4;
    for (std::size_t at = 0; at + looked_at_bytes <= size; ++at) {
        const StackPointer taken = stack_pointer_of(code + at, looked_at_bytes, false);
        if (taken == StackPointer::of_register || taken == StackPointer::of_memory)
            return true;
    }
    return false;
}

}  // namespace steelyard::layout
