// A unit of debugging information: its header and its entries (DIEs); DWARF 5, section 7.5.

#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "abbreviations.hpp"
#include "byte_reader.hpp"
#include "sections.hpp"

namespace steelyard {

class DebugFile;

/// The value of an attribute, as it is written. What it stands for depends on its form.
struct Value {
    std::uint16_t form = 0;
    std::uint64_t number = 0;
    std::string_view text;
};

struct Die {
    std::uint64_t offset = 0;  ///< in the section of its unit
    std::uint16_t tag = 0;     ///< 0: the end of a row of siblings
    bool has_children = false;

    bool has(Slot slot) const { return present[static_cast<std::size_t>(slot)]; }
    const Value& value(Slot slot) const { return values[static_cast<std::size_t>(slot)]; }

    std::bitset<static_cast<std::size_t>(Slot::count)> present;
    std::array<Value, static_cast<std::size_t>(Slot::count)> values;
};

struct Range {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

/// A unit, and what its values need. Lives in the DebugFile that it is from.
struct Unit {
    DebugFile* file = nullptr;
    SectionKind section = SectionKind::info;
    std::uint64_t begin = 0;      ///< of its header, in the section
    std::uint64_t first_die = 0;  ///< in the section
    std::uint64_t end = 0;        ///< in the section
    std::uint16_t version = 0;
    std::uint8_t type = 0;
    std::uint8_t address_bytes = 0;
    std::uint8_t offset_bytes = 0;  ///< 8 in the 64-bit format
    std::uint64_t abbreviations_at = 0;
    std::uint64_t signature = 0;  ///< of a type unit, or what a split unit is known by
    std::uint64_t type_die = 0;   ///< of a type unit: where in the section its type stands
    const Abbreviations* abbreviations = nullptr;

    // From the first entry.
    std::uint16_t tag = 0;
    std::uint64_t language = 0;
    std::uint64_t low_pc = 0;
    std::uint64_t str_offsets_base = 0;
    std::uint64_t addr_base = 0;
    std::uint64_t rnglists_base = 0;
    std::uint64_t ranges_base = 0;
    const Sections* addresses = nullptr;  ///< `.debug_addr` of a split unit is in another file
    const Unit* skeleton = nullptr;       ///< of a split unit: what its program's file has of it

    bool is_64() const { return offset_bytes == sizeof(std::uint64_t); }
};

/// Reads the header of the unit at an offset; throws Malformed where there is none.
Unit unit_at(DebugFile& file, SectionKind section, std::uint64_t offset);
/// Takes what concerns the unit as a whole from its first entry.
void take_root(Unit& unit, const Die& root);

/// Reads entries one after the other, in the order of the file.
class DieReader {
  public:
    DieReader(const Unit& unit, std::uint64_t offset);

    /// The next entry; false at the unit's end.
    bool next(Die& die);
    /// How many entries the last one is nested in.
    int depth() const { return depth_; }
    /// Goes on behind what the last entry holds, where that says where it ends.
    bool skip_children(const Die& die);

  private:
    const Unit* unit_;
    std::uint64_t begin_;
    ByteReader reader_;
    int depth_ = 0;
    int next_depth_ = 0;
};

/// One entry; throws Malformed where there is none.
Die die_at(const Unit& unit, std::uint64_t offset);

/// Takes the value of a form; throws Malformed of a form that is not known.
Value take_value(ByteReader& reader, const Unit& unit, std::uint16_t form, std::int64_t implicit);

/// What a value is, where it is a text, an address or a place in the section.
std::string_view text_of(const Unit& unit, const Value& value);
std::optional<std::uint64_t> address_of(const Unit& unit, const Value& value);

/// The addresses that an entry covers.
std::vector<Range> ranges_of(const Unit& unit, const Die& die);

}  // namespace steelyard
