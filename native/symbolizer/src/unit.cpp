#include "unit.hpp"

#include "debug_file.hpp"
#include "dwarf.hpp"

namespace steelyard {

namespace {

constexpr std::uint32_t long_format = 0xffffffffU;
constexpr std::uint16_t oldest_version = 2, newest_version = 5;

void read_older_header(Unit& unit, ByteReader& reader) {
    unit.abbreviations_at =
        unit.is_64() ? reader.take<std::uint64_t>() : reader.take<std::uint32_t>();
    unit.address_bytes = reader.take<std::uint8_t>();
    unit.type = unit.section == SectionKind::types ? dwarf::unit_type : dwarf::unit_compile;
}

void read_newer_header(Unit& unit, ByteReader& reader) {
    unit.type = reader.take<std::uint8_t>();
    unit.address_bytes = reader.take<std::uint8_t>();
    unit.abbreviations_at =
        unit.is_64() ? reader.take<std::uint64_t>() : reader.take<std::uint32_t>();
    if (unit.type == dwarf::unit_skeleton || unit.type == dwarf::unit_split_compile)
        unit.signature = reader.take<std::uint64_t>();
}

void read_signature(Unit& unit, ByteReader& reader) {
    const bool is_type = unit.section == SectionKind::types || unit.type == dwarf::unit_type ||
                         unit.type == dwarf::unit_split_type;
    if (!is_type)
        return;
    unit.signature = reader.take<std::uint64_t>();
    unit.type_die =
        unit.begin + (unit.is_64() ? reader.take<std::uint64_t>() : reader.take<std::uint32_t>());
}

}  // namespace

Unit unit_at(DebugFile& file, SectionKind section, std::uint64_t offset) {
    ByteReader reader(file.sections().from(section, offset), 0);
    Unit unit;
    unit.file = &file;
    unit.section = section;
    unit.begin = offset;
    unit.offset_bytes = sizeof(std::uint32_t);
    std::uint64_t length = reader.take<std::uint32_t>();
    if (length == long_format) {
        unit.offset_bytes = sizeof(std::uint64_t);
        length = reader.take<std::uint64_t>();
    }
    const std::uint64_t after_length = offset + reader.position();
    if (length > file.sections().get(section).size() - after_length)
        throw Malformed();
    unit.end = after_length + length;
    unit.version = reader.take<std::uint16_t>();
    if (unit.version < oldest_version || unit.version > newest_version)
        return unit;
    if (unit.version < newest_version)
        read_older_header(unit, reader);
    else
        read_newer_header(unit, reader);
    read_signature(unit, reader);
    unit.first_die = offset + reader.position();
    if (unit.first_die > unit.end || (unit.address_bytes != sizeof(std::uint32_t) &&
                                      unit.address_bytes != sizeof(std::uint64_t)))
        throw Malformed();
    // Where nothing is said, a split unit has its tables behind their headers (section 7.26).
    const std::uint64_t short_header = 8, long_header = 16, more = 4;
    const std::uint64_t header = unit.is_64() ? long_header : short_header;
    if (unit.version == newest_version) {
        unit.str_offsets_base = header;
        unit.rnglists_base = header + more;
    }
    unit.addresses = &file.sections();
    return unit;
}

void take_root(Unit& unit, const Die& root) {
    unit.tag = root.tag;
    const auto number = [&root](Slot slot, std::uint64_t& target) {
        if (root.has(slot))
            target = root.value(slot).number;
    };
    number(Slot::language, unit.language);
    number(Slot::str_offsets_base, unit.str_offsets_base);
    number(Slot::addr_base, unit.addr_base);
    number(Slot::rnglists_base, unit.rnglists_base);
    number(Slot::dwo_id, unit.signature);
    if (root.has(Slot::low_pc))
        unit.low_pc = address_of(unit, root.value(Slot::low_pc)).value_or(0);
}

DieReader::DieReader(const Unit& unit, std::uint64_t offset)
    : unit_(&unit),
      begin_(offset),
      reader_(offset < unit.first_die || offset > unit.end
                  ? throw Malformed()
                  : unit.file->sections()
                        .get(unit.section)
                        .subspan(static_cast<std::size_t>(offset),
                                 static_cast<std::size_t>(unit.end - offset)),
              0) {}

bool DieReader::next(Die& die) {
    if (reader_.at_end())
        return false;
    depth_ = next_depth_;
    die.offset = begin_ + reader_.position();
    die.present.reset();
    const std::uint64_t code = reader_.take_uleb();
    if (code == 0) {
        die.tag = 0;
        die.has_children = false;
        --next_depth_;
        return true;
    }
    const Abbreviation& shape = unit_->abbreviations->at(code);
    die.tag = shape.tag;
    die.has_children = shape.has_children;
    for (const AttributeShape& attribute : shape.attributes) {
        const Value found = take_value(reader_, *unit_, attribute.form, attribute.implicit);
        if (attribute.slot == Slot::count)
            continue;
        const auto at = static_cast<std::size_t>(attribute.slot);
        die.values[at] = found;
        die.present.set(at);
    }
    if (die.has_children)
        ++next_depth_;
    return true;
}

bool DieReader::skip_children(const Die& die) {
    if (!die.has_children || !die.has(Slot::sibling))
        return !die.has_children;
    const std::uint64_t target = unit_->begin + die.value(Slot::sibling).number;
    const std::uint64_t here = begin_ + reader_.position();
    if (target < here)
        throw Malformed();
    reader_.take_bytes(target - here);
    next_depth_ = depth_;
    return true;
}

Die die_at(const Unit& unit, std::uint64_t offset) {
    DieReader reader(unit, offset);
    Die die;
    if (!reader.next(die) || die.tag == 0)
        throw Malformed();
    return die;
}

}  // namespace steelyard
