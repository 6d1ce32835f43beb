#include "debug_file.hpp"

#include <algorithm>
#include <iterator>

#include "dwarf.hpp"

namespace steelyard {

DebugFile::DebugFile(Sections sections, DebugFile* supplement)
    : sections_(sections), supplement_(supplement) {
    read_units(SectionKind::info);
    read_units(SectionKind::types);
    for (const auto* units : {&units_, &type_units_}) {
        for (const Unit& unit : *units) {
            if (unit.type_die != 0)
                types_.emplace(unit.signature, Place{&unit, unit.type_die});
        }
    }
}

void DebugFile::read_units(SectionKind section) {
    auto& units = section == SectionKind::info ? units_ : type_units_;
    std::uint64_t offset = 0;
    while (offset < sections_.get(section).size()) {
        Unit unit;
        try {
            unit = unit_at(*this, section, offset);
        } catch (const Malformed&) {
            return;  // Where the next one begins is not known.
        }
        offset = unit.end;
        if (unit.first_die == 0)
            continue;  // of a version that is not known
        try {
            unit.abbreviations = abbreviations(unit.abbreviations_at);
            take_root(unit, die_at(unit, unit.first_die));
            units.push_back(unit);
        } catch (const Malformed&) {
            continue;
        }
    }
}

const Abbreviations* DebugFile::abbreviations(std::uint64_t offset) {
    auto& table = tables_[offset];
    if (!table)
        table = std::make_unique<Abbreviations>(sections_.from(SectionKind::abbrev, offset));
    return table.get();
}

const Unit& DebugFile::unit_around(std::uint64_t offset) const {
    const auto after = std::ranges::upper_bound(units_, offset, {}, &Unit::begin);
    if (after == units_.begin())
        throw Malformed();
    const Unit& unit = *std::prev(after);
    if (offset >= unit.end)
        throw Malformed();
    return unit;
}

Place DebugFile::target(const Unit& unit, const Value& value) const {
    switch (value.form) {
        case dwarf::form_ref1:
        case dwarf::form_ref2:
        case dwarf::form_ref4:
        case dwarf::form_ref8:
        case dwarf::form_ref_udata:
            return {&unit, unit.begin + value.number};
        case dwarf::form_ref_addr:
            return {&unit_around(value.number), value.number};
        case dwarf::form_gnu_ref_alt:
        case dwarf::form_ref_sup4:
        case dwarf::form_ref_sup8:
            if (supplement_ == nullptr)
                throw Malformed();
            return {&supplement_->unit_around(value.number), value.number};
        case dwarf::form_ref_sig8:
            if (const auto found = types_.find(value.number); found != types_.end())
                return found->second;
            throw Malformed();
        default:
            throw Malformed();
    }
}

}  // namespace steelyard
