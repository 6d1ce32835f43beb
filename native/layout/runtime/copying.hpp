// Writes the copy of one function, and points branches, labels and the jumps of originals to the
// generation that is wanted.

#pragma once

#include <cstdint>

#include "generation.hpp"
#include "random.hpp"

namespace steelyard::layout {

/// Writes the copy of a function to its place in a generation, its branches leading to copies of
/// the same generation. `random` draws where its basic blocks lie, if they are apart.
void lay_copy(const Generation& generation, std::uint32_t index, Random& random);
/// Draws the size of its frame's pad and writes that into the copy.
void write_pads(const Generation& generation, std::uint32_t index, Random& random);
/// Lets the branches of a copy lead to the newest generation; the bytes changed are those at
/// `into`, which are to take the copy's place.
void patch_copy(const Generation& generation, const Generation& newest, std::uint32_t index,
                std::uint8_t* into);
/// Lets the jumps of the originals and the labels lead to a generation.
void redirect(const Generation& generation, std::uint64_t* slots);
/// Turns the originals into traps, but for jumps through the slots.
void replace_originals(const Program& program, const std::uint64_t* slots);

}  // namespace steelyard::layout
