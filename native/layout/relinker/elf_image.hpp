// Reads a linked ELF file (sections, symbols, kept relocations) and writes it again with one more
// section.

#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace steelyard::layout {

/// What is wrong with a file, in one sentence.
struct ImageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Section {
    std::string name;
    Elf64_Shdr header;

    bool is_loaded() const { return (header.sh_flags & SHF_ALLOC) != 0; }
    bool is_code() const { return (header.sh_flags & SHF_EXECINSTR) != 0; }
    bool holds(std::uint64_t address) const {
        return is_loaded() && address >= header.sh_addr &&
               address < header.sh_addr + header.sh_size;
    }
};

struct Symbol {
    std::string name;
    std::uint64_t address;
    std::uint64_t size;
    std::uint8_t type;
};

struct Relocation {
    std::uint64_t address;  ///< of the field
    std::uint64_t symbol;   ///< the symbol's address
    std::uint64_t value;    ///< symbol and addend
    std::uint32_t type;
    std::size_t section;  ///< that the field is in
};

/// A linked x86-64 ELF file in memory.
class ElfImage {
  public:
    /// Reads the file; throws ImageError where it is not what it must be.
    explicit ElfImage(const std::string& path);

    const std::vector<Section>& sections() const { return sections_; }
    const Elf64_Ehdr& header() const { return header_; }
    std::vector<Elf64_Phdr> segments() const;
    std::vector<Symbol> symbols() const;
    /// Names of functions that other objects are to give.
    std::vector<std::string> imports() const;
    /// Addresses that other objects find by name.
    std::vector<std::uint64_t> exports() const;
    /// The relocations that `--emit-relocs` kept, by address.
    std::vector<Relocation> kept_relocations() const;
    /// The bytes at `address` up to the end of its section; empty where nothing is stored.
    std::span<const std::uint8_t> at(std::uint64_t address) const;
    /// Of the section with this name; empty where there is none.
    std::span<const std::uint8_t> contents(std::string_view name) const;
    const Section* section_of(std::uint64_t address) const;
    bool has_section(std::string_view name) const;

    /// Put a section that is not loaded at the end of the file.
    void append_section(const std::string& name, std::span<const std::uint8_t> contents);
    /// Replaces the file at `path`, with its mode.
    void write(const std::string& path) const;

  private:
    template <typename T>
    T read(std::uint64_t offset) const;
    std::string_view string_at(const Elf64_Shdr& table, std::uint32_t offset) const;
    void append_relocations(std::size_t index, std::vector<Relocation>& found) const;

    std::vector<std::uint8_t> bytes_;
    Elf64_Ehdr header_{};
    std::vector<Section> sections_;
};

}  // namespace steelyard::layout
