// The addresses of an entry; DWARF 5, sections 2.17.3 and 7.25, and DWARF 4, section 2.17.3.

#include <limits>

#include "debug_file.hpp"
#include "dwarf.hpp"
#include "unit.hpp"

namespace steelyard {

namespace {

constexpr std::uint16_t newer_version = 5;

std::uint64_t take_address(ByteReader& reader, const Unit& unit) {
    return unit.address_bytes == sizeof(std::uint64_t) ? reader.take<std::uint64_t>()
                                                       : reader.take<std::uint32_t>();
}

std::uint64_t indexed_address(const Unit& unit, std::uint64_t index) {
    return address_of(unit, Value{dwarf::form_addrx, index, {}}).value_or(0);
}

std::vector<Range> older_list(const Unit& unit, std::uint64_t offset) {
    // Also of a split unit they are in the program's own file.
    ByteReader reader(unit.addresses->from(SectionKind::ranges, offset), 0);
    const std::uint64_t selects_base = unit.address_bytes == sizeof(std::uint64_t)
                                           ? std::numeric_limits<std::uint64_t>::max()
                                           : std::numeric_limits<std::uint32_t>::max();
    std::uint64_t base = unit.low_pc;
    std::vector<Range> ranges;
    for (;;) {
        const std::uint64_t low = take_address(reader, unit);
        const std::uint64_t high = take_address(reader, unit);
        if (low == 0 && high == 0)
            return ranges;
        if (low == selects_base)
            base = high;
        else if (low < high)
            ranges.push_back({base + low, base + high});
    }
}

/// The next entry of a list; nothing for one that sets the base alone.
Range take_entry(ByteReader& reader, const Unit& unit, std::uint8_t kind, std::uint64_t& base) {
    switch (kind) {
        case dwarf::range_base_addressx:
            base = indexed_address(unit, reader.take_uleb());
            return {};
        case dwarf::range_base_address:
            base = take_address(reader, unit);
            return {};
        case dwarf::range_startx_endx: {
            const std::uint64_t low = indexed_address(unit, reader.take_uleb());
            return {low, indexed_address(unit, reader.take_uleb())};
        }
        case dwarf::range_startx_length: {
            const std::uint64_t low = indexed_address(unit, reader.take_uleb());
            return {low, low + reader.take_uleb()};
        }
        case dwarf::range_offset_pair: {
            const std::uint64_t low = base + reader.take_uleb();
            return {low, base + reader.take_uleb()};
        }
        case dwarf::range_start_end: {
            const std::uint64_t low = take_address(reader, unit);
            return {low, take_address(reader, unit)};
        }
        case dwarf::range_start_length: {
            const std::uint64_t low = take_address(reader, unit);
            return {low, low + reader.take_uleb()};
        }
        default:
            throw Malformed();
    }
}

std::vector<Range> newer_list(const Unit& unit, std::uint64_t offset) {
    ByteReader reader(unit.file->sections().from(SectionKind::rnglists, offset), 0);
    std::uint64_t base = unit.low_pc;
    std::vector<Range> ranges;
    while (const auto kind = reader.take<std::uint8_t>()) {
        const Range range = take_entry(reader, unit, kind, base);
        if (range.low < range.high)
            ranges.push_back(range);
    }
    return ranges;
}

std::uint64_t list_offset(const Unit& unit, const Value& value) {
    if (value.form != dwarf::form_rnglistx)
        return value.number;
    const std::uint64_t at = unit.rnglists_base + value.number * unit.offset_bytes;
    ByteReader offsets(unit.file->sections().from(SectionKind::rnglists, at), 0);
    const std::uint64_t offset =
        unit.is_64() ? offsets.take<std::uint64_t>() : offsets.take<std::uint32_t>();
    return unit.rnglists_base + offset;
}

}  // namespace

std::vector<Range> ranges_of(const Unit& unit, const Die& die) {
    if (die.has(Slot::ranges)) {
        const Value& value = die.value(Slot::ranges);
        if (unit.version >= newer_version)
            return newer_list(unit, list_offset(unit, value));
        return older_list(unit, unit.ranges_base + value.number);
    }
    if (!die.has(Slot::low_pc) || !die.has(Slot::high_pc))
        return {};
    const auto low = address_of(unit, die.value(Slot::low_pc));
    if (!low)
        return {};
    const Value& value = die.value(Slot::high_pc);
    const auto high = address_of(unit, value);
    const Range range{*low, high ? *high : *low + value.number};
    return range.low < range.high ? std::vector{range} : std::vector<Range>();
}

}  // namespace steelyard
