#include "pointer_moves.hpp"

#include "control_flow.hpp"

namespace steelyard {

namespace {

constexpr std::int64_t word = sizeof(std::uint64_t);
constexpr std::uint8_t add_to_field = 0x03, compare_first = 0x38, compare_last = 0x3d,
                       test_byte = 0x84, test_word = 0x85, move_byte_to_field = 0x8a,
                       move_to_field = 0x8b, load_address = 0x8d, conditional_first = 0x40,
                       conditional_last = 0x4f;

}  // namespace

bool is_plain(const Instruction& instruction, std::uint8_t opcode) {
    return instruction.map == one_byte && !instruction.vector_encoding &&
           instruction.opcode == opcode;
}

bool is_conditional_move(const Instruction& instruction) {
    return instruction.map == map_0f && !instruction.vector_encoding &&
           instruction.opcode >= conditional_first && instruction.opcode <= conditional_last;
}

bool may_write_vectors(const Instruction& instruction) {
    const std::uint8_t opcode = instruction.opcode;
    const bool is_general =
        instruction.map == one_byte ||
        (instruction.map == map_0f &&
         ((opcode >= 0x18 && opcode <= 0x1f) || is_conditional_move(instruction) ||
          (opcode >= 0x80 && opcode <= 0xc1) || opcode >= 0xc7) &&
         opcode < 0xd0);
    return instruction.vector_encoding || !is_general;
}

std::int64_t stored_bytes(const Instruction& instruction) {
    constexpr std::uint8_t save_state = 0xae, x87_first = 0xd8, x87_last = 0xdf;
    constexpr std::int64_t state_bytes = 4096;
    if (instruction.vector_encoding)
        return instruction.vector_bytes;
    if (instruction.map == map_0f && instruction.opcode == save_state)
        return state_bytes;
    const bool is_x87 = instruction.map == one_byte && instruction.opcode >= x87_first &&
                        instruction.opcode <= x87_last;
    return may_write_vectors(instruction) || is_x87 || instruction.map != one_byte ? 2 * word
                                                                                   : word;
}

bool only_reads(const Instruction& instruction) {
    const std::uint8_t opcode = instruction.opcode;
    if (is_conditional_move(instruction) || is_indirect_call(instruction) ||
        is_indirect_jump(instruction))
        return true;
    return instruction.map == one_byte && !instruction.vector_encoding &&
           ((opcode >= compare_first && opcode <= compare_last) || opcode == test_byte ||
            opcode == test_word || opcode == move_byte_to_field || opcode == move_to_field ||
            opcode == load_address || opcode == add_to_field);
}

}  // namespace steelyard
