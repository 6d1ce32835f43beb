// The code of a program whose paths are learnt: what its linker put together, and clones of its
// functions that were added.

#pragma once

#include <cstdint>
#include <vector>

#include "elf_tables.hpp"
#include "growable_frames.hpp"

namespace steelyard {

class ProgramCode {
  public:
    ProgramCode() = default;
    /// Views last as long as the file in memory and this. Throws Malformed where tables are
    /// damaged.
    explicit ProgramCode(const ElfTables& tables);

    /// From the first function to the last clone. What lies between is no instruction.
    CodeBytes bytes() const { return image_.empty() ? text_ : CodeBytes{text_.address, image_}; }
    /// Behind the last byte of the section that an address lies in.
    std::uint64_t section_end(std::uint64_t address) const;

  private:
    CodeBytes text_, clones_;
    std::vector<std::uint8_t> image_;
};

}  // namespace steelyard
