#include "source_files.hpp"

#include "debug_file.hpp"
#include "dwarf.hpp"

namespace steelyard {

namespace {

constexpr std::uint32_t long_format = 0xffffffffU;
constexpr std::uint16_t oldest_version = 2, newest_version = 5, first_with_operations = 4;

std::string joined(std::string_view folder, std::string_view name) {
    const bool is_whole = folder.empty() || name.starts_with('/');
    return is_whole ? std::string(name) : std::string(folder) + '/' + std::string(name);
}

/// Skips what the header says of the program that makes the table.
void skip_operations(ByteReader& reader, std::uint16_t version) {
    reader.take<std::uint8_t>();
    if (version >= first_with_operations)
        reader.take<std::uint8_t>();
    constexpr std::uint64_t until_base = 3;
    reader.take_bytes(until_base);
    const auto opcode_base = reader.take<std::uint8_t>();
    reader.take_bytes(opcode_base == 0 ? 0 : opcode_base - 1U);
}

}  // namespace

std::string SourceFiles::of(const Unit& unit, std::uint64_t number) {
    try {
        // A split unit has its lines where its skeleton is.
        const Table& table = table_of(unit.skeleton == nullptr ? unit : *unit.skeleton);
        if (number < table.first_number || number - table.first_number >= table.files.size())
            return {};
        const File& file = table.files[static_cast<std::size_t>(number - table.first_number)];
        if (file.folder >= table.folders.size())
            return {};
        const auto folder = table.folders[static_cast<std::size_t>(file.folder)];
        return joined(joined(table.folders.front(), folder), file.name);
    } catch (const Malformed&) {
        return {};
    }
}

const SourceFiles::Table& SourceFiles::table_of(const Unit& unit) {
    const auto known = tables_.find(&unit);
    if (known != tables_.end())
        return known->second;
    Table& table = tables_[&unit];
    const Die root = die_at(unit, unit.first_die);
    if (!root.has(Slot::stmt_list))
        return table;
    const bool says_where = root.has(Slot::comp_dir);
    const auto where = says_where ? text_of(unit, root.value(Slot::comp_dir)) : std::string_view();
    table = read(unit, root.value(Slot::stmt_list).number, where);
    return table;
}

SourceFiles::Table SourceFiles::read(const Unit& unit, std::uint64_t offset,
                                     std::string_view compiled_in) {
    ByteReader reader(unit.file->sections().from(SectionKind::line, offset), 0);
    const bool is_long = reader.take<std::uint32_t>() == long_format;
    if (is_long)
        reader.take<std::uint64_t>();
    const auto version = reader.take<std::uint16_t>();
    if (version < oldest_version || version > newest_version || is_long != unit.is_64())
        throw Malformed();
    if (version == newest_version)
        reader.take<std::uint16_t>();  // sizes of an address, and of a segment
    reader.take_bytes(unit.offset_bytes);
    skip_operations(reader, version);
    Table table;
    table.folders.push_back(compiled_in);
    if (version == newest_version)
        read_newer(reader, unit, table);
    else
        read_older(reader, unit, table);
    return table;
}

void SourceFiles::read_older(ByteReader& reader, const Unit& unit, Table& table) {
    const auto text = [&] { return take_value(reader, unit, dwarf::form_string, 0).text; };
    for (std::string_view folder = text(); !folder.empty(); folder = text())
        table.folders.push_back(folder);
    for (std::string_view name = text(); !name.empty(); name = text()) {
        table.files.push_back({name, reader.take_uleb()});
        reader.take_uleb();  // when it was changed
        reader.take_uleb();  // its size
    }
    table.first_number = 1;
}

void SourceFiles::read_newer(ByteReader& reader, const Unit& unit, Table& table) {
    const auto folders = entries(reader, unit);
    if (!folders.empty())
        table.folders.clear();
    for (const auto& [folder, number] : folders)
        table.folders.push_back(folder);
    for (const auto& [name, folder] : entries(reader, unit))
        table.files.push_back({name, folder});
}

std::vector<SourceFiles::Entry> SourceFiles::entries(ByteReader& reader, const Unit& unit) {
    std::vector<std::pair<std::uint64_t, std::uint16_t>> shape;
    const auto fields = reader.take<std::uint8_t>();
    for (unsigned field = 0; field < fields; ++field) {
        const std::uint64_t content = reader.take_uleb();
        shape.emplace_back(content, static_cast<std::uint16_t>(reader.take_uleb()));
    }
    const std::uint64_t count = reader.take_uleb();
    // Each takes a byte at least, whatever a damaged count says.
    if (count > reader.remaining())
        throw Malformed();
    std::vector<Entry> found;
    for (std::uint64_t number = 0; number < count; ++number) {
        Entry& entry = found.emplace_back();
        for (const auto& [content, form] : shape) {
            const Value value = take_value(reader, unit, form, 0);
            if (content == dwarf::line_path)
                entry.first = text_of(unit, value);
            else if (content == dwarf::line_directory_index)
                entry.second = value.number;
        }
    }
    return found;
}

}  // namespace steelyard
