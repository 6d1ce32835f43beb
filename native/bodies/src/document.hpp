// The answer: all functions and objects of a program as one JSON object of columns; columns of
// numbers are base64 of 4 or 8 bytes each.

#pragma once

#include <cstddef>
#include <ostream>
#include <span>

#include "program_file.hpp"

namespace steelyard {

/// Reads a program and writes what it is made of; throws as ProgramFile does.
void write_bodies(Bytes file, std::ostream& out);

/// Writes the steps of the functions at some places of that list: for each their addresses, their
/// operations, their operations with operands, where they jump to within the function (0: nowhere,
/// 1: by a table), how many of the function's references come before each and in all. Steps that do
/// nothing are left out.
void write_steps(Bytes file, std::span<const std::size_t> places, std::ostream& out);

}  // namespace steelyard
