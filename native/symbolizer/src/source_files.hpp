// The files that entries say they were written in: the header of a unit's line table, DWARF 5,
// section 6.2.4.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unit.hpp"

namespace steelyard {

class SourceFiles {
  public:
    /// The path of a file by its number in a unit; empty where that is not known.
    std::string of(const Unit& unit, std::uint64_t number);

  private:
    struct File {
        std::string_view name;
        std::uint64_t folder = 0;
    };
    struct Table {
        std::vector<std::string_view> folders;  ///< the first is that of the compilation
        std::vector<File> files;
        std::uint64_t first_number = 0;
    };
    using Entry = std::pair<std::string_view, std::uint64_t>;

    static Table read(const Unit& unit, std::uint64_t offset, std::string_view compiled_in);
    static void read_older(ByteReader& reader, const Unit& unit, Table& table);
    static void read_newer(ByteReader& reader, const Unit& unit, Table& table);
    static std::vector<Entry> entries(ByteReader& reader, const Unit& unit);
    const Table& table_of(const Unit& unit);

    std::map<const Unit*, Table> tables_;
};

}  // namespace steelyard
