// The tables of an ELF file that may be damaged: its header, sections and segments.

#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace steelyard {

using Bytes = std::span<const std::byte>;

/// A section header and its name; empty where that lies outside of the table of names.
struct NamedHeader {
    std::string_view name;
    Elf64_Shdr header;
};

/// What is read of a file in memory. Views last as long as that does.
class ElfTables {
  public:
    /// Throws Malformed where it is no ELF file of 64 bits, little-endian.
    explicit ElfTables(Bytes file);

    const Elf64_Ehdr& header() const { return header_; }
    /// None where the file has no table of them; throws Malformed where it does not hold the table
    /// that it claims, or the one of names.
    std::vector<NamedHeader> sections() const;
    /// Throws Malformed where the file does not hold the table that it claims.
    std::vector<Elf64_Phdr> segments() const;
    /// Some bytes of the file; throws Malformed where it does not hold them.
    Bytes part(std::uint64_t offset, std::uint64_t size) const;

  private:
    Bytes file_;
    Elf64_Ehdr header_;
};

/// The text at an offset up to its NUL, or to the end.
std::string_view text_at(Bytes bytes, std::uint64_t offset);

}  // namespace steelyard
