// The debugging information of one file: its units, and what refers from one entry to another.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "abbreviations.hpp"
#include "sections.hpp"
#include "unit.hpp"

namespace steelyard {

/// An entry: the unit that it is in, and its place there.
struct Place {
    const Unit* unit = nullptr;
    std::uint64_t offset = 0;

    auto operator<=>(const Place&) const = default;
};

/// Units of `.debug_info` and `.debug_types`. One that is damaged is left out. An object stays
/// where it is made, since its units refer to it.
class DebugFile {
  public:
    /// `supplement` holds what several files share (`.gnu_debugaltlink`), or is null.
    explicit DebugFile(Sections sections, DebugFile* supplement = nullptr);
    DebugFile(const DebugFile&) = delete;
    DebugFile& operator=(const DebugFile&) = delete;

    const Sections& sections() const { return sections_; }
    DebugFile* supplement() const { return supplement_; }
    std::vector<Unit>& units() { return units_; }

    /// The entry that a value refers to; throws Malformed where there is none.
    Place target(const Unit& unit, const Value& value) const;

  private:
    void read_units(SectionKind section);
    const Unit& unit_around(std::uint64_t offset) const;
    const Abbreviations* abbreviations(std::uint64_t offset);

    Sections sections_;
    DebugFile* supplement_;
    std::vector<Unit> units_;                         // of `.debug_info`, by rising begin
    std::vector<Unit> type_units_;                    // of `.debug_types`
    std::unordered_map<std::uint64_t, Place> types_;  // by signature
    std::unordered_map<std::uint64_t, std::unique_ptr<Abbreviations>> tables_;
};

}  // namespace steelyard
