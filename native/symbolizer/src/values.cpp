// The forms of attributes; DWARF 5, sections 7.5.5 and 7.5.6.

#include "debug_file.hpp"
#include "dwarf.hpp"
#include "unit.hpp"

namespace steelyard {

namespace {

std::uint64_t take_three(ByteReader& reader) {
    constexpr unsigned low_bits = 16;
    const std::uint64_t low = reader.take<std::uint16_t>();
    return low | (std::uint64_t{reader.take<std::uint8_t>()} << low_bits);
}

std::uint64_t take_sized(ByteReader& reader, std::uint8_t bytes) {
    return bytes == sizeof(std::uint64_t) ? reader.take<std::uint64_t>()
                                          : reader.take<std::uint32_t>();
}

std::string_view take_text(ByteReader& reader) {
    std::size_t length = 0;
    ByteReader ahead = reader;
    while (ahead.take<std::uint8_t>() != 0)
        ++length;
    const auto bytes = reader.take_bytes(length + 1);
    return {reinterpret_cast<const char*>(bytes.data()), length};
}

/// The forms of a size that is written with them; false: it is none of these.
bool skip_block(ByteReader& reader, std::uint16_t form) {
    switch (form) {
        case dwarf::form_block1:
            reader.take_bytes(reader.take<std::uint8_t>());
            return true;
        case dwarf::form_block2:
            reader.take_bytes(reader.take<std::uint16_t>());
            return true;
        case dwarf::form_block4:
            reader.take_bytes(reader.take<std::uint32_t>());
            return true;
        case dwarf::form_block:
        case dwarf::form_exprloc:
            reader.take_bytes(reader.take_uleb());
            return true;
        case dwarf::form_data16: {
            constexpr std::uint64_t bytes = 16;
            reader.take_bytes(bytes);
            return true;
        }
        default:
            return false;
    }
}

/// An offset into another section: of the size that the unit says.
bool is_offset(std::uint16_t form) {
    switch (form) {
        case dwarf::form_strp:
        case dwarf::form_sec_offset:
        case dwarf::form_line_strp:
        case dwarf::form_strp_sup:
        case dwarf::form_gnu_strp_alt:
        case dwarf::form_gnu_ref_alt:
            return true;
        default:
            return false;
    }
}

/// A number of a size that the form says; throws Malformed of a form that is not known.
std::uint64_t take_number(ByteReader& reader, std::uint16_t form) {
    switch (form) {
        case dwarf::form_data1:
        case dwarf::form_ref1:
        case dwarf::form_flag:
        case dwarf::form_strx1:
        case dwarf::form_addrx1:
            return reader.take<std::uint8_t>();
        case dwarf::form_data2:
        case dwarf::form_ref2:
        case dwarf::form_strx2:
        case dwarf::form_addrx2:
            return reader.take<std::uint16_t>();
        case dwarf::form_strx3:
        case dwarf::form_addrx3:
            return take_three(reader);
        case dwarf::form_data4:
        case dwarf::form_ref4:
        case dwarf::form_ref_sup4:
        case dwarf::form_strx4:
        case dwarf::form_addrx4:
            return reader.take<std::uint32_t>();
        case dwarf::form_data8:
        case dwarf::form_ref8:
        case dwarf::form_ref_sig8:
        case dwarf::form_ref_sup8:
            return reader.take<std::uint64_t>();
        case dwarf::form_sdata:
            return static_cast<std::uint64_t>(reader.take_sleb());
        case dwarf::form_udata:
        case dwarf::form_ref_udata:
        case dwarf::form_strx:
        case dwarf::form_addrx:
        case dwarf::form_loclistx:
        case dwarf::form_rnglistx:
        case dwarf::form_gnu_addr_index:
        case dwarf::form_gnu_str_index:
            return reader.take_uleb();
        default:
            throw Malformed();
    }
}

}  // namespace

Value take_value(ByteReader& reader, const Unit& unit, std::uint16_t form, std::int64_t implicit) {
    while (form == dwarf::form_indirect)
        form = static_cast<std::uint16_t>(reader.take_uleb());
    Value found{form, 0, {}};
    if (form == dwarf::form_implicit_const)
        found.number = static_cast<std::uint64_t>(implicit);
    else if (form == dwarf::form_flag_present)
        found.number = 1;
    else if (form == dwarf::form_string)
        found.text = take_text(reader);
    else if (form == dwarf::form_addr)
        found.number = take_sized(reader, unit.address_bytes);
    else if (form == dwarf::form_ref_addr)
        // Of the size of an address in DWARF 2.
        found.number =
            take_sized(reader, unit.version > 2 ? unit.offset_bytes : unit.address_bytes);
    else if (is_offset(form))
        found.number = take_sized(reader, unit.offset_bytes);
    else if (!skip_block(reader, form))
        found.number = take_number(reader, form);
    return found;
}

std::string_view text_of(const Unit& unit, const Value& value) {
    const Sections& sections = unit.file->sections();
    switch (value.form) {
        case dwarf::form_string:
            return value.text;
        case dwarf::form_strp:
            return sections.text(SectionKind::str, value.number);
        case dwarf::form_line_strp:
            return sections.text(SectionKind::line_str, value.number);
        case dwarf::form_strp_sup:
        case dwarf::form_gnu_strp_alt:
            if (unit.file->supplement() == nullptr)
                throw Malformed();
            return unit.file->supplement()->sections().text(SectionKind::str, value.number);
        case dwarf::form_strx:
        case dwarf::form_strx1:
        case dwarf::form_strx2:
        case dwarf::form_strx3:
        case dwarf::form_strx4:
        case dwarf::form_gnu_str_index: {
            const std::uint64_t at = unit.str_offsets_base + value.number * unit.offset_bytes;
            ByteReader offsets(sections.from(SectionKind::str_offsets, at), 0);
            return sections.text(SectionKind::str, take_sized(offsets, unit.offset_bytes));
        }
        default:
            throw Malformed();
    }
}

std::optional<std::uint64_t> address_of(const Unit& unit, const Value& value) {
    switch (value.form) {
        case dwarf::form_addr:
            return value.number;
        case dwarf::form_addrx:
        case dwarf::form_addrx1:
        case dwarf::form_addrx2:
        case dwarf::form_addrx3:
        case dwarf::form_addrx4:
        case dwarf::form_gnu_addr_index: {
            const std::uint64_t at = unit.addr_base + value.number * unit.address_bytes;
            ByteReader addresses(unit.addresses->from(SectionKind::addr, at), 0);
            return take_sized(addresses, unit.address_bytes);
        }
        default:
            return std::nullopt;
    }
}

}  // namespace steelyard
