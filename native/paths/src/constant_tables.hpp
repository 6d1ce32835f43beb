// Objects of a program that it cannot write to, by their symbols.

#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "elf_tables.hpp"

namespace steelyard {

class ConstantTables {
  public:
    /// Throws Malformed where tables of the file are damaged.
    explicit ConstantTables(const ElfTables& tables);

    /// Where the object begins that has the address; nothing where that may be written to, or no
    /// symbol names it.
    std::optional<std::uint64_t> at(std::uint64_t address) const;
    std::uint64_t end_of(std::uint64_t start) const { return ends_.at(start); }

  private:
    std::map<std::uint64_t, std::uint64_t> ends_;  ///< by starts
};

}  // namespace steelyard
