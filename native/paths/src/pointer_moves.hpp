// What instructions do with words that may be pointers: which only read, and how much others write.

#pragma once

#include <cstdint>

#include "decode.hpp"

namespace steelyard {

/// Whether it is an opcode of one byte.
bool is_plain(const Instruction& instruction, std::uint8_t opcode);
bool is_conditional_move(const Instruction& instruction);
/// Whether ModRM may name a vector register that is written.
bool may_write_vectors(const Instruction& instruction);
/// How much of memory an instruction writes at most.
std::int64_t stored_bytes(const Instruction& instruction);
/// Whether an operand in memory is only read.
bool only_reads(const Instruction& instruction);

}  // namespace steelyard
