// The small stack machine by which .eh_frame says where rare frames are: those of the linkage
// table, of signal handlers and of realigned stacks (DWARF 5, section 2.5).

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "unwind_row.hpp"

namespace steelyard {

/// The part of a stack that was copied.
class StackMemory {
  public:
    StackMemory(std::span<const std::byte> bytes, std::uint64_t address)
        : bytes_(bytes), address_(address) {}

    /// Throws Malformed outside of the copy.
    std::uint64_t word_at(std::uint64_t address) const;

  private:
    std::span<const std::byte> bytes_;
    std::uint64_t address_;
};

/// What an expression gives; `first` is on its stack at the beginning. Throws Malformed for
/// operations that frames have no use for, and for memory that was not copied.
std::uint64_t expression_value(std::span<const std::byte> program, const Registers& registers,
                               const StackMemory& memory, std::uint64_t first);

}  // namespace steelyard
