#include "abbreviations.hpp"

#include <utility>

#include "dwarf.hpp"

namespace steelyard {

namespace {

Slot slot_of(std::uint64_t attribute) {
    static const std::map<std::uint64_t, Slot> slots{
        {dwarf::at_sibling, Slot::sibling},
        {dwarf::at_name, Slot::name},
        {dwarf::at_low_pc, Slot::low_pc},
        {dwarf::at_high_pc, Slot::high_pc},
        {dwarf::at_language, Slot::language},
        {dwarf::at_producer, Slot::producer},
        {dwarf::at_comp_dir, Slot::comp_dir},
        {dwarf::at_abstract_origin, Slot::abstract_origin},
        {dwarf::at_artificial, Slot::artificial},
        {dwarf::at_decl_file, Slot::decl_file},
        {dwarf::at_decl_line, Slot::decl_line},
        {dwarf::at_decl_column, Slot::decl_column},
        {dwarf::at_external, Slot::external},
        {dwarf::at_specification, Slot::specification},
        {dwarf::at_type, Slot::type},
        {dwarf::at_ranges, Slot::ranges},
        {dwarf::at_linkage_name, Slot::linkage_name},
        {dwarf::at_mips_linkage_name, Slot::linkage_name},
        {dwarf::at_stmt_list, Slot::stmt_list},
        {dwarf::at_str_offsets_base, Slot::str_offsets_base},
        {dwarf::at_addr_base, Slot::addr_base},
        {dwarf::at_gnu_addr_base, Slot::addr_base},
        {dwarf::at_rnglists_base, Slot::rnglists_base},
        {dwarf::at_dwo_name, Slot::dwo_name},
        {dwarf::at_gnu_dwo_name, Slot::dwo_name},
        {dwarf::at_gnu_dwo_id, Slot::dwo_id},
        {dwarf::at_gnu_ranges_base, Slot::ranges_base},
    };
    const auto found = slots.find(attribute);
    return found == slots.end() ? Slot::count : found->second;
}

std::vector<AttributeShape> attributes_from(ByteReader& reader) {
    std::vector<AttributeShape> attributes;
    for (;;) {
        const std::uint64_t name = reader.take_uleb();
        const std::uint64_t form = reader.take_uleb();
        AttributeShape shape{static_cast<std::uint16_t>(form), slot_of(name), 0};
        if (form == dwarf::form_implicit_const)
            shape.implicit = reader.take_sleb();
        if (name == 0 && form == 0)
            return attributes;
        attributes.push_back(shape);
    }
}

}  // namespace

Abbreviations::Abbreviations(Bytes bytes) {
    ByteReader reader(bytes, 0);
    while (const std::uint64_t code = reader.take_uleb()) {
        Abbreviation shape;
        shape.tag = static_cast<std::uint16_t>(reader.take_uleb());
        shape.has_children = reader.take<std::uint8_t>() != 0;
        shape.attributes = attributes_from(reader);
        if (code == dense_.size() + 1)
            dense_.push_back(std::move(shape));
        else
            others_.emplace(code, std::move(shape));
    }
}

const Abbreviation& Abbreviations::at(std::uint64_t code) const {
    if (code - 1 < dense_.size())
        return dense_[static_cast<std::size_t>(code - 1)];
    const auto found = others_.find(code);
    if (found == others_.end())
        throw Malformed();
    return found->second;
}

}  // namespace steelyard
