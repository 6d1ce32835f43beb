// Answers `steelyard layout audit`: which functions of a linked program move, and why the others do
// not.

#pragma once

#include <string>

#include "elf_image.hpp"
#include "movable_functions.hpp"
#include "table_writer.hpp"

namespace steelyard::layout {

/// The audit as JSON: every function by name, why it stays where it does, and code without a name.
std::string audit(const ElfImage& image, const Functions& functions, const Wishes& wishes);

}  // namespace steelyard::layout
