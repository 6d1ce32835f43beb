#include "debug_file.hpp"
#include "dwarf.hpp"
#include "tests.hpp"
#include "unit.hpp"
#include "written_bytes.hpp"

using namespace steelyard;

namespace {

Unit unit_of(std::uint16_t version, std::uint8_t offset_bytes, std::uint8_t address_bytes) {
    Unit unit;
    unit.version = version;
    unit.offset_bytes = offset_bytes;
    unit.address_bytes = address_bytes;
    return unit;
}

/// The number of a form of a unit, and how many bytes it took.
struct Taken {
    std::uint64_t number;
    std::size_t bytes;
    bool operator==(const Taken&) const = default;
};

Taken taken(const Unit& unit, std::uint16_t form) {
    WrittenBytes written;
    written.u64(0x0807060504030201U).u64(0).u64(0).u64(0).u64(0).u64(0);
    ByteReader reader(written.bytes(), 0);
    const Value value = take_value(reader, unit, form, -7);
    return {value.number, reader.position()};
}

}  // namespace

TEST("a number takes the bytes that its form says") {
    const Unit unit = unit_of(5, 4, 8);
    CHECK((taken(unit, dwarf::form_data1) == Taken{0x01, 1}));
    CHECK((taken(unit, dwarf::form_strx2) == Taken{0x0201, 2}));
    CHECK((taken(unit, dwarf::form_addrx3) == Taken{0x030201, 3}));
    CHECK((taken(unit, dwarf::form_ref4) == Taken{0x04030201, 4}));
    CHECK((taken(unit, dwarf::form_ref_sig8) == Taken{0x0807060504030201U, 8}));
    CHECK((taken(unit, dwarf::form_udata) == Taken{1, 1}));
    CHECK((taken(unit, dwarf::form_flag_present) == Taken{1, 0}));
    CHECK((taken(unit, dwarf::form_implicit_const) == Taken{static_cast<std::uint64_t>(-7), 0}));
    CHECK((taken(unit, dwarf::form_data16) == Taken{0, 16}));
    CHECK((taken(unit, dwarf::form_block1) == Taken{0, 2}));
}

TEST("an offset has the size of its unit's format, an address that of its machine") {
    CHECK((taken(unit_of(5, 8, 4), dwarf::form_strp) == Taken{0x0807060504030201U, 8}));
    CHECK((taken(unit_of(5, 4, 8), dwarf::form_strp) == Taken{0x04030201, 4}));
    CHECK((taken(unit_of(5, 8, 4), dwarf::form_addr) == Taken{0x04030201, 4}));
    // A reference into another unit had the size of an address in DWARF 2.
    CHECK((taken(unit_of(2, 4, 8), dwarf::form_ref_addr) == Taken{0x0807060504030201U, 8}));
    CHECK((taken(unit_of(3, 4, 8), dwarf::form_ref_addr) == Taken{0x04030201, 4}));
}

TEST("a form that stands before its value is followed") {
    WrittenBytes written;
    written.small({dwarf::form_indirect, dwarf::form_data2}).u16(0x1234);
    ByteReader reader(written.bytes(), 0);
    const Value value = take_value(reader, unit_of(5, 4, 8), dwarf::form_indirect, 0);
    CHECK(value.form == dwarf::form_data2 && value.number == 0x1234);
}

TEST("a form that nobody knows is damage, since nobody knows its size") {
    bool refused = false;
    try {
        taken(unit_of(5, 4, 8), 0x7f);
    } catch (const Malformed&) {
        refused = true;
    }
    CHECK(refused);
}

TEST("texts are found in their sections, and a shared file's only where there is one") {
    WrittenBytes own;
    WrittenBytes shared;
    WrittenBytes offsets;
    own.text("zero").text("five");
    shared.text("shared");
    offsets.u32(0).u32(5);
    Sections of_shared;
    of_shared.set(SectionKind::str, shared.bytes());
    Sections of_own;
    of_own.set(SectionKind::str, own.bytes());
    of_own.set(SectionKind::str_offsets, offsets.bytes());
    DebugFile supplement(of_shared);
    DebugFile with(of_own, &supplement);
    DebugFile without(of_own);
    Unit unit = unit_of(5, 4, 8);
    unit.file = &with;
    CHECK(text_of(unit, {dwarf::form_string, 0, "here"}) == "here");
    CHECK(text_of(unit, {dwarf::form_strp, 5, {}}) == "five");
    CHECK(text_of(unit, {dwarf::form_strx1, 1, {}}) == "five");
    CHECK(text_of(unit, {dwarf::form_strp_sup, 0, {}}) == "shared");
    unit.file = &without;
    bool refused = false;
    try {
        text_of(unit, {dwarf::form_gnu_strp_alt, 0, {}});
    } catch (const Malformed&) {
        refused = true;
    }
    CHECK(refused);
}
