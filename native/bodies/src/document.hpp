// The answer: all functions and objects of a program as one JSON object of columns.

#pragma once

#include <ostream>

#include "program_file.hpp"

namespace steelyard {

/// Reads a program and writes what it is made of; throws as ProgramFile does.
void write_bodies(Bytes file, std::ostream& out);

}  // namespace steelyard
