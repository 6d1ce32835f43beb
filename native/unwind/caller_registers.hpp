// From the registers of a function to those of its caller, by a row of the call frame table.

#pragma once

#include <cstddef>
#include <cstdint>

#include "frame_expression.hpp"
#include "unwind_row.hpp"

namespace steelyard {

/// The caller's value of one register.
std::uint64_t value_by(const RegisterRule& rule, std::size_t number, std::uint64_t cfa,
                       const Registers& registers, const StackMemory& memory);

/// The registers of the caller; throws Malformed where its stack is not in the copy.
Registers caller_by(const UnwindRow& row, const Registers& registers, const StackMemory& memory);

}  // namespace steelyard
