// The layout table: what the relinker found in a linked program and the runtime needs to move it.
//
// It is the ELF section `.steelyard.layout`: a header and arrays of what follows, all
// little-endian, at the offsets that the header names. Addresses are the link's, so relative to
// the load bias.

#pragma once

#include <cstdint>

namespace steelyard::layout {

constexpr char table_magic[8] = {'S', 'Y', 'L', 'A', 'Y', 'O', 'U', 'T'};
constexpr std::uint32_t table_version = 4;

/// Bytes of `jmp *slot(%rip)`: what the entry of a moved function, or a label in it, is replaced
/// by.
constexpr std::uint32_t stub_bytes = 6;
/// Every copy starts on such a boundary, as compilers lay functions (`.p2align 4`).
constexpr std::uint32_t copy_alignment_bytes = 16;
/// A jump table starts on such a boundary behind the code of its copy.
constexpr std::uint32_t jump_table_alignment_bytes = 4;

/// The parts of the layout that can be randomised.
///
/// `part_blocks` comes with `part_code`: functions are copied block by block.
enum Part : std::uint32_t { part_code = 1, part_stack = 2, part_heap = 4, part_blocks = 8 };

struct TableHeader {
    char magic[8];
    std::uint32_t version;
    std::uint32_t parts;        ///< asked for at the link; the environment may say otherwise
    std::uint64_t interval_ns;  ///< 0: once, at the start
    std::uint64_t seed;         ///< 0: drawn anew for every run
    std::uint64_t image_low, image_high;
    std::uint64_t text_low, text_high;  ///< pages that hold the original functions
    std::uint32_t function_count, fixup_count, jump_table_count, label_count, pad_count;
    std::uint32_t block_count;
    std::uint32_t exempted_count;
    std::uint32_t switches_stacks;  ///< code in it may: its stacks may lie anywhere in memory
    std::uint64_t functions, fixups, jump_tables, labels, pads, blocks,
        exempted;  ///< offsets from the header
    std::uint64_t size;
};

/// A function that moves. Its fixups, jump tables, pads (offsets of immediates) and basic blocks
/// reach up to those of the next one; an entry more than `function_count` closes the arrays. All
/// are in the order of their offsets.
struct FunctionEntry {
    std::uint32_t start, size;
    std::uint32_t first_fixup, first_jump_table, first_pad, first_block;
    std::uint32_t code_bytes;   ///< of a copy before its jump tables
    std::uint32_t table_bytes;  ///< of its jump tables
    std::uint32_t cut_bytes;    ///< instead of `code_bytes` where blocks are apart: at most so many
    std::uint32_t checks_depth;  ///< 1: calls of it are to look how deep the stack is
};

/// How control leaves a basic block.
enum class BlockEnd : std::uint16_t {
    stops,     ///< by what moves with it: a return, a jump elsewhere, a call that does not return
    falls,     ///< into the next block
    jumps,     ///< to the block `taken`
    branches,  ///< to `taken`, or else into the next block
};

/// A basic block of a function without the jump at its end. It ends where that starts.
struct BlockEntry {
    std::uint32_t start, bytes;
    std::uint32_t taken;  ///< counted from the first block of the function
    BlockEnd end;
    std::uint16_t condition;  ///< the low bits of the opcode of `branches`
};

/// `jmp rel32`, and `jcc rel32`.
constexpr std::uint32_t jump_bytes = 5, branch_bytes = 6;

/// `Fixup::target`: a place that stays, a function by its index, or a jump table with this bit.
constexpr std::uint32_t target_fixed = 0xffffffffU;
constexpr std::uint32_t target_jump_table = 0x80000000U;

/// A PC-relative field of four bytes.
struct Fixup {
    std::uint32_t offset;
    std::uint32_t target;
};

/// A jump table of offsets from its own start, of four bytes each, to places in one function.
struct JumpTable {
    std::uint32_t start, size;
    std::uint32_t place;  ///< offset behind the code of a copy
};

/// A place inside a function whose address is kept in data.
struct Label {
    std::uint32_t address;
    std::uint32_t function;
};

}  // namespace steelyard::layout
