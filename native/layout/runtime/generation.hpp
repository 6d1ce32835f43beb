// The data of one generation: where the copy of each function lies, and what the last search found
// of it on stacks.

#pragma once

#include <cstdint>

#include "random.hpp"

namespace steelyard::layout {

class Program;

/// One set of copies of all functions of a program or a shared library, in an order and at places
/// of its own.
struct Generation {
    const Program* program;
    std::uint64_t low, high;   ///< its pages
    std::uint64_t* copies;     ///< address of each function's copy
    std::uint32_t* order;      ///< functions by address
    std::uint8_t* live;        ///< found on a stack in this round, or `spared_mark`
    std::uint8_t* is_current;  ///< its branches lead to the newest copies
    std::uint8_t* was_found;   ///< in the last search, or there was none since it was the newest
    /// Of each basic block, by the table's order, where it is in its copy; null where functions
    /// are copied whole.
    std::uint32_t* block_places;
    std::uint64_t bookkeeping_bytes;
    /// The copies without pads that belong to these: for calls where the stack is deep. Null where
    /// these have no pads.
    Generation* deep;
    bool is_deep;
    std::uint32_t entry_bytes;  ///< before each copy, for the look how deep the stack is
    Generation* older;
};

constexpr std::uint8_t freed_mark = 2;                   // in Generation::is_current
constexpr std::uint8_t found_mark = 1, spared_mark = 2;  // in Generation::live
// Gaps between copies: on the mean 56 bytes, so that a neighbour's size says nothing about a place.
constexpr std::uint32_t gap_steps = 8;

// `cmpq %fs:112, %rsp` and `jns`, up to the copy.
constexpr std::uint32_t depth_check_bytes = 15, entry_room_bytes = 16;

/// Null where there is no memory.
Generation* new_generation(const Program& program);
void drop_generation(Generation& generation);
/// Draws the order of the copies and their distances from the start; the bytes that they take.
std::uint64_t draw_places(Generation& generation, Random& random);
/// All branches of a generation lead to copies that are no longer the newest.
void forget_branches(Generation& generation);
/// Before a round: no copy is found yet; with `waits` those of the search before live all the same.
void forget_findings(Generation& generation, bool waits);
/// After the last round of a search.
void keep_findings(Generation& generation);
/// Where calls of a function lead to.
std::uint64_t entry(const Generation& generation, std::uint32_t index);
/// How much the copy of a function takes, behind its entry.
std::uint64_t copy_bytes(const Generation& generation, std::uint32_t index);
/// The function in whose copy an address is, or -1.
std::int64_t find_copy(const Generation& generation, std::uint64_t address);

}  // namespace steelyard::layout
