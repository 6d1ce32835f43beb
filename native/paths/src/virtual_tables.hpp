// The tables of virtual functions of a C++ program (Itanium C++ ABI, 2.5), by their symbols.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "elf_tables.hpp"
#include "program_references.hpp"

namespace steelyard {

class VirtualTables {
  public:
    /// Throws Malformed where tables of the file are damaged.
    VirtualTables(const ElfTables& tables, const ProgramReferences& references);

    /// How far a word lies behind the address that objects hold of its table; nothing where it is
    /// in no table, or where that address is not known.
    std::optional<std::uint64_t> offset_of(std::uint64_t place) const;

  private:
    void read_symbols(const ElfTables& tables);
    void read_points(const ElfTables& tables, const ProgramReferences& references);

    std::map<std::uint64_t, std::uint64_t> ends_;  ///< of tables, by their starts
    std::set<std::uint64_t> type_infos_;
    std::map<std::uint64_t, std::set<std::uint64_t>> points_;  ///< what objects hold, by tables
};

}  // namespace steelyard
