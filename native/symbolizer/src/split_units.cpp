#include "split_units.hpp"

#include "dwarf.hpp"

namespace steelyard {

namespace {

constexpr std::uint32_t older_index = 2, newer_index = 5;

/// The kinds of sections that an index counts: DWARF 5, section 7.3.5.3.
SectionKind kind_of_column(std::uint32_t version, std::uint32_t column) {
    enum : std::uint32_t { info = 1, abbrev = 3, str_offsets = 6, rnglists = 8 };
    switch (column) {
        case info:
            return SectionKind::info;
        case abbrev:
            return SectionKind::abbrev;
        case str_offsets:
            return SectionKind::str_offsets;
        case rnglists:
            return version == newer_index ? SectionKind::rnglists : SectionKind::count;
        default:
            return SectionKind::count;
    }
}

struct Index {
    std::uint32_t version, columns, units, slots;
    ByteReader reader;  // behind the header
};

Index index_of(const Sections& package) {
    ByteReader reader(package.get(SectionKind::cu_index), 0);
    constexpr std::uint32_t version_mask = 0xffff;
    const std::uint32_t version = reader.take<std::uint32_t>() & version_mask;
    const auto columns = reader.take<std::uint32_t>();
    const auto units = reader.take<std::uint32_t>();
    const auto slots = reader.take<std::uint32_t>();
    if (version != older_index && version != newer_index)
        throw Malformed();
    return {version, columns, units, slots, reader};
}

/// The row of a unit, counted from 1; 0 where it is not there.
std::uint32_t row_of(Index& index, std::uint64_t id) {
    ByteReader signatures(index.reader.take_bytes(std::uint64_t{index.slots} * sizeof id), 0);
    ByteReader rows(index.reader.take_bytes(std::uint64_t{index.slots} * sizeof(std::uint32_t)), 0);
    for (std::uint32_t slot = 0; slot < index.slots; ++slot) {
        const auto signature = signatures.take<std::uint64_t>();
        const auto row = rows.take<std::uint32_t>();
        if (signature == id && row != 0)
            return row;
    }
    return 0;
}

}  // namespace

std::optional<Skeleton> skeleton_of(const Unit& unit) {
    const Die root = die_at(unit, unit.first_die);
    if (!root.has(Slot::dwo_name))
        return std::nullopt;
    Skeleton found;
    found.unit = &unit;
    found.id = unit.signature;
    if (root.has(Slot::ranges_base))
        found.ranges_base = root.value(Slot::ranges_base).number;
    found.file = text_of(unit, root.value(Slot::dwo_name));
    if (root.has(Slot::comp_dir))
        found.folder = text_of(unit, root.value(Slot::comp_dir));
    return found;
}

std::optional<Sections> sections_in_package(const Sections& package, std::uint64_t id) {
    Index index = index_of(package);
    const std::uint32_t row = row_of(index, id);
    if (row == 0 || row > index.units)
        return std::nullopt;
    const std::uint64_t row_bytes = std::uint64_t{index.columns} * sizeof(std::uint32_t);
    ByteReader columns(index.reader.take_bytes(row_bytes), 0);
    ByteReader offsets(index.reader.take_bytes(row_bytes * index.units), 0);
    ByteReader sizes(index.reader.take_bytes(row_bytes * index.units), 0);
    offsets.take_bytes(row_bytes * (row - 1));
    sizes.take_bytes(row_bytes * (row - 1));
    Sections found = package;
    for (std::uint32_t column = 0; column < index.columns; ++column) {
        const SectionKind kind = kind_of_column(index.version, columns.take<std::uint32_t>());
        const auto offset = offsets.take<std::uint32_t>();
        const auto size = sizes.take<std::uint32_t>();
        if (kind == SectionKind::count)
            continue;
        ByteReader part(package.from(kind, offset), 0);
        found.set(kind, part.take_bytes(size));
    }
    return found;
}

std::optional<Sections> SplitUnits::sections_of(std::uint64_t id) const {
    if (const auto file = files_.find(id); file != files_.end())
        return file->second;
    return package_ ? sections_in_package(*package_, id) : std::nullopt;
}

const Unit* SplitUnits::unit_of(const Skeleton& skeleton) {
    const auto sections = sections_of(skeleton.id);
    if (!sections)
        return nullptr;
    DebugFile& file = *open_.emplace_back(std::make_unique<DebugFile>(*sections));
    for (Unit& unit : file.units()) {
        if (unit.tag != dwarf::tag_compile_unit || unit.signature != skeleton.id)
            continue;
        unit.addr_base = skeleton.unit->addr_base;
        unit.ranges_base = skeleton.ranges_base;
        unit.low_pc = skeleton.unit->low_pc;
        unit.addresses = skeleton.unit->addresses;
        unit.skeleton = skeleton.unit;
        return &unit;
    }
    return nullptr;
}

}  // namespace steelyard
