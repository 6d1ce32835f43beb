// Counts the bytes of code by who they belong to, so that the audit can say how much of a program
// moves.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "elf_image.hpp"
#include "movable_functions.hpp"

namespace steelyard::layout {

/// How many bytes of code there are, and whose. What fills the room between functions, and the
/// runtime's own code, is nobody's.
class CodeBytes {
  public:
    CodeBytes(const ElfImage& image, const Functions& functions);

    /// Of a function by its index. One whose symbol has no size reaches up to the next symbol.
    std::uint64_t of(std::size_t index) const { return of_functions_[index]; }
    /// Code that no symbol names, by its section: it stays where it is.
    const std::map<std::string, std::uint64_t>& unnamed() const { return unnamed_; }

    /// The addresses of the runtime's own code: where each stretch starts and ends.
    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& runtime() const { return runtime_; }

  private:
    std::vector<std::uint64_t> of_functions_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> runtime_;
    std::map<std::string, std::uint64_t> unnamed_;
};

/// How many bytes are left without the instructions at the end that only fill room.
std::size_t without_filling(std::span<const std::uint8_t> code);

}  // namespace steelyard::layout
