// What the entries of a unit look like: `.debug_abbrev`, DWARF 5, section 7.5.3.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "byte_reader.hpp"
#include "sections.hpp"

namespace steelyard {

/// The attributes that are read; all others are skipped.
enum class Slot : std::uint8_t {
    sibling,
    name,
    low_pc,
    high_pc,
    language,
    producer,
    comp_dir,
    abstract_origin,
    artificial,
    decl_file,
    decl_line,
    decl_column,
    external,
    specification,
    type,
    ranges,
    linkage_name,
    stmt_list,
    str_offsets_base,
    addr_base,
    rnglists_base,
    dwo_name,
    dwo_id,
    ranges_base,
    count
};

struct AttributeShape {
    std::uint16_t form = 0;
    Slot slot = Slot::count;
    std::int64_t implicit = 0;
};

struct Abbreviation {
    std::uint16_t tag = 0;
    bool has_children = false;
    std::vector<AttributeShape> attributes;
};

class Abbreviations {
  public:
    /// Reads one table; throws Malformed where it is none.
    explicit Abbreviations(Bytes bytes);

    /// The shape of that code; throws Malformed where there is none.
    const Abbreviation& at(std::uint64_t code) const;

  private:
    std::vector<Abbreviation> dense_;  // of the codes from 1 on, as compilers number them
    std::map<std::uint64_t, Abbreviation> others_;
};

}  // namespace steelyard
