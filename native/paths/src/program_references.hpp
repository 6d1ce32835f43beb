// What a program refers to by address: functions of libraries and of its own, in tables and in
// data.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "elf_tables.hpp"
#include "growable_frames.hpp"

namespace steelyard {

/// What a word of memory holds as the program begins.
struct Slot {
    std::string symbol;         ///< of a library; empty where it is the program's own
    std::uint64_t address = 0;  ///< of the program itself; 0: of a library
    bool stays = false;         ///< in the global offset table, and not a variable
};

/// Views last as long as the file in memory.
class ProgramReferences {
  public:
    /// Throws Malformed where tables are damaged.
    explicit ProgramReferences(const ElfTables& tables);

    /// The word at an address, where the dynamic linker fills it in.
    const Slot* slot(std::uint64_t address) const;
    /// What a stub of the procedure linkage table, or code like one, jumps to.
    const Slot* through_stub(std::uint64_t address) const;
    /// Words of data that may be addresses of code, by their places; without those of functions
    /// that are called before and after `main`.
    const std::map<std::uint64_t, std::uint64_t>& words() const { return words_; }
    /// Functions that other files can call by name.
    const std::set<std::uint64_t>& exported() const { return exported_; }
    /// Where the program begins.
    std::uint64_t entry() const { return tables_.header().e_entry; }
    /// The function that the C library is to call first; nothing where the entry does not say.
    std::optional<std::uint64_t> main_function() const;
    /// Functions that are called before and after that.
    const std::vector<std::uint64_t>& initial() const { return initial_; }
    const std::vector<std::uint64_t>& final() const { return final_; }

  private:
    std::optional<std::span<const std::uint8_t>> code_from(std::uint64_t address) const;
    void read_relocations();
    void read_relocation(const Elf64_Rela& one, Bytes symbols, Bytes names);
    void read_exports();
    void read_words(const Elf64_Shdr& section);
    std::vector<std::uint64_t> array(std::uint32_t type) const;
    bool is_in_offset_table(std::uint64_t place) const;
    bool is_called_by_library(std::uint64_t place) const;
    std::uint64_t word_at(Bytes bytes, std::uint64_t address, std::uint64_t offset) const;

    const ElfTables& tables_;
    std::vector<NamedHeader> sections_;
    std::vector<Elf64_Phdr> segments_;
    std::unordered_map<std::uint64_t, Slot> slots_;
    std::map<std::uint64_t, std::uint64_t> words_;
    std::set<std::uint64_t> exported_;
    std::vector<std::uint64_t> initial_, final_;
};

}  // namespace steelyard
