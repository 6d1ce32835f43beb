// Addresses that instructions have as numbers, and not by their own place.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode.hpp"
#include "elf_tables.hpp"

namespace steelyard {

class AddressNumbers {
  public:
    /// Throws Malformed where tables of the file are damaged.
    explicit AddressNumbers(const ElfTables& tables);

    /// What may be one: a number of 32 bits where addresses are fixed; one of 64, by itself or from
    /// the global offset table, where code may lie anywhere (`-mcmodel=large`).
    std::vector<std::uint64_t> in(const Instruction& instruction,
                                  std::span<const std::uint8_t> code) const;

  private:
    bool has_fixed_addresses_;
    std::vector<std::uint64_t> offset_tables_;
};

}  // namespace steelyard
