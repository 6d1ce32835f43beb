// An ELF program or library in memory: its sections, symbols and relocations, read with bounds.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elf_tables.hpp"

namespace steelyard {

enum class Machine : std::uint16_t { x86_64 = 62, aarch64 = 183 };

/// A section header (Elf64_Shdr) with its contents.
struct Section {
    std::string_view name;
    std::uint32_t kind = 0;
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint32_t link = 0;
    Bytes bytes;  ///< empty where nothing is in the file

    bool is_code() const { return (flags & 0x6U) == 0x6U; }
    bool is_loaded() const { return (flags & 0x2U) != 0 && (flags & 0x400U) == 0; }
    bool is_writable() const { return (flags & 0x1U) != 0; }
    bool holds(std::uint64_t at) const { return at >= address && at - address < size; }
};

/// A function or an object of data (Elf64_Sym).
struct Symbol {
    std::string_view name;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    bool is_function = false;
    bool is_local = false;
};

/// What a loader writes to an address: that of a symbol, or an address of this file.
struct Relocation {
    std::string_view symbol;
    std::uint64_t address = 0;  ///< where `symbol` is empty
};

/// What is read of one file. Views into `file` last as long as it does.
class ProgramFile {
  public:
    /// Throws Malformed where it is no ELF file of 64 bits, little-endian, or is damaged; Fatal
    /// where it is one for a machine whose code is not read.
    explicit ProgramFile(Bytes file);

    Machine machine() const { return machine_; }
    bool is_fixed() const { return is_fixed_; }  ///< loaded at the addresses that it names
    const std::vector<Section>& sections() const { return sections_; }
    const std::vector<Symbol>& symbols() const { return symbols_; }
    bool is_stripped() const { return is_stripped_; }
    const std::vector<std::string_view>& libraries() const { return libraries_; }

    /// The loaded section that holds an address; null where none does.
    const Section* section_at(std::uint64_t address) const;
    const Section* section(std::string_view name) const;
    /// The bytes from an address to the end of its section; empty where nothing is in the file.
    Bytes bytes_at(std::uint64_t address) const;
    const Relocation* relocation_at(std::uint64_t address) const;
    /// The build id, hexadecimal; empty where there is none.
    std::string build_id() const;

  private:
    void read_sections(const ElfTables& tables);
    void read_symbols(const Section& table);
    void read_relocations(const Section& table);
    void read_libraries(const Section& table);

    Machine machine_ = Machine::x86_64;
    bool is_fixed_ = false;
    bool is_stripped_ = true;
    std::vector<Section> sections_;
    std::vector<const Section*> loaded_;
    std::vector<Symbol> symbols_;
    std::vector<std::string_view> libraries_;
    std::unordered_map<std::uint64_t, Relocation> relocations_;
};

}  // namespace steelyard
