#include "variable_arguments.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "register_effects.hpp"

namespace steelyard {

namespace {

// rdi, rsi, rdx, rcx, r8, r9.
constexpr std::array<std::uint8_t, 6> argument_registers = {7, 6, 2, 1, 8, 9};
constexpr std::uint8_t store_register = 0x89, store_number = 0xc7, move_number = 0xb8,
                       move_number_last = 0xbf;
// Behind the general registers those of floating-point numbers are stored.
constexpr std::uint64_t general_bytes = 48;

bool is_one_byte(const Instruction& instruction) {
    return instruction.map == one_byte && !instruction.vector_encoding;
}

/// Which argument a register is that is stored.
std::optional<unsigned> stored_argument(const Instruction& instruction,
                                        std::span<const std::uint8_t> code) {
    if (!is_one_byte(instruction) || instruction.opcode != store_register ||
        !instruction.memory_operand || !instruction.wide)
        return std::nullopt;
    const auto found =
        std::ranges::find(argument_registers, register_operands(instruction, code).field);
    if (found == argument_registers.end())
        return std::nullopt;
    return static_cast<unsigned>(found - argument_registers.begin());
}

/// How many registers a list of arguments is past that is begun here; nothing where none may be.
std::optional<unsigned> begun_list(const CodeStep& step, std::span<const std::uint8_t> code) {
    const Instruction& instruction = step.instruction;
    // Lists lie on the stack.
    const bool is_store =
        instruction.opcode == store_number && (step.use.has_operand || step.use.has_frame_operand);
    const bool is_move =
        instruction.opcode >= move_number && instruction.opcode <= move_number_last;
    if (!is_one_byte(instruction) || (!is_store && !is_move) || instruction.immediate_bytes < 4)
        return std::nullopt;
    std::uint64_t number = 0;
    std::memcpy(&number, &code[instruction.immediate_offset], instruction.immediate_bytes);
    // Both offsets may be stored as one number.
    const bool is_pair = number >> 32U == general_bytes;
    const std::uint64_t offset = number & 0xffff'ffffU;
    if ((!is_pair && number >> 32U != 0) || offset == 0 || offset >= general_bytes ||
        offset % sizeof(std::uint64_t) != 0 || (is_move && !is_pair))
        return std::nullopt;
    return static_cast<unsigned>(offset / sizeof(std::uint64_t));
}

}  // namespace

unsigned named_arguments(const StackDepths& depths, unsigned most) {
    std::array<bool, argument_registers.size()> is_stored{}, is_begun{};
    for (const CodeStep& step : depths.steps()) {
        const auto code = depths.bytes_of(step);
        if (const auto argument = stored_argument(step.instruction, code))
            is_stored.at(*argument) = true;
        if (const auto named = begun_list(step, code))
            is_begun.at(*named) = true;
    }
    for (unsigned named = 0; named < is_begun.size(); ++named) {
        if (is_begun.at(named) && is_stored.at(named))
            return std::min(named, most);
    }
    return most;
}

}  // namespace steelyard
