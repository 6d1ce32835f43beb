#include <vector>

#include "debug_file.hpp"
#include "dwarf.hpp"
#include "tests.hpp"
#include "unit.hpp"
#include "written_bytes.hpp"

using namespace steelyard;

namespace {

constexpr std::uint64_t base = 0x10000;

/// The ranges of an entry with one attribute of ranges, in a unit that begins at `base`.
struct Listed {
    explicit Listed(const Sections& sections, std::uint16_t version) : file(sections) {
        unit.file = &file;
        unit.addresses = &file.sections();
        unit.version = version;
        unit.offset_bytes = 4;
        unit.address_bytes = 8;
        unit.low_pc = base;
    }
    std::vector<Range> at(std::uint64_t number, std::uint16_t form = dwarf::form_sec_offset) {
        Die die;
        set(die, Slot::ranges, {form, number, {}});
        return ranges_of(unit, die);
    }
    static void set(Die& die, Slot slot, const Value& value) {
        die.present.set(static_cast<std::size_t>(slot));
        die.values[static_cast<std::size_t>(slot)] = value;
    }

    DebugFile file;
    Unit unit;
};

bool are(const std::vector<Range>& found, const std::vector<Range>& wanted) {
    if (found.size() != wanted.size())
        return false;
    for (std::size_t at = 0; at < found.size(); ++at) {
        if (found[at].low != wanted[at].low || found[at].high != wanted[at].high)
            return false;
    }
    return true;
}

}  // namespace

TEST("every kind of entry of DWARF 5 gives its range") {
    WrittenBytes lists;
    WrittenBytes addresses;
    addresses.u64(0x100).u64(0x200);
    lists.small({dwarf::range_offset_pair, 1, 9})
        .small({dwarf::range_startx_endx, 0, 1})
        .small({dwarf::range_startx_length, 1, 7});
    lists.u8(dwarf::range_start_end).u64(0x300).u64(0x310);
    lists.u8(dwarf::range_start_length).u64(0x400).u8(3);
    lists.small({dwarf::range_base_addressx, 1, dwarf::range_offset_pair, 2, 4});
    lists.u8(dwarf::range_base_address).u64(0x500);
    lists.small({dwarf::range_offset_pair, 0, 2, dwarf::range_offset_pair, 5, 5, 0});
    Sections sections;
    sections.set(SectionKind::rnglists, lists.bytes());
    sections.set(SectionKind::addr, addresses.bytes());
    CHECK(are(Listed(sections, 5).at(0), {{base + 1, base + 9},
                                          {0x100, 0x200},
                                          {0x200, 0x207},
                                          {0x300, 0x310},
                                          {0x400, 0x403},
                                          {0x202, 0x204},
                                          {0x500, 0x502}}));
}

TEST("a list of DWARF 5 that is named by its number is found by the table before the lists") {
    WrittenBytes lists;
    lists.u32(0xdead).u32(12).u32(12);
    lists.u32(0).small({dwarf::range_offset_pair, 1, 2, 0});
    Sections sections;
    sections.set(SectionKind::rnglists, lists.bytes());
    Listed listed(sections, 5);
    listed.unit.rnglists_base = 4;
    CHECK(are(listed.at(1, dwarf::form_rnglistx), {{base + 1, base + 2}}));
}

TEST("a list before DWARF 5 is of pairs, one of which may set the base") {
    WrittenBytes lists;
    lists.u64(1).u64(5).u64(7).u64(7).u64(~std::uint64_t{0}).u64(0x2000).u64(2).u64(3);
    lists.u64(0).u64(0);
    Sections sections;
    sections.set(SectionKind::ranges, lists.bytes());
    CHECK(are(Listed(sections, 4).at(0), {{base + 1, base + 5}, {0x2002, 0x2003}}));
}

TEST("a list that does not end, or has an entry that nobody knows, is damage") {
    for (const std::uint8_t last : {std::uint8_t{dwarf::range_start_end}, std::uint8_t{0x70}}) {
        WrittenBytes lists;
        lists.small({dwarf::range_offset_pair, 1, 2, last});
        Sections sections;
        sections.set(SectionKind::rnglists, lists.bytes());
        bool refused = false;
        try {
            Listed(sections, 5).at(0);
        } catch (const Malformed&) {
            refused = true;
        }
        CHECK(refused);
    }
}

TEST("the end of a range is an address, or a distance from its beginning") {
    Listed listed(Sections(), 5);
    Die die;
    Listed::set(die, Slot::low_pc, {dwarf::form_addr, 0x100, {}});
    CHECK(ranges_of(listed.unit, die).empty());
    Listed::set(die, Slot::high_pc, {dwarf::form_data4, 0x20, {}});
    CHECK(are(ranges_of(listed.unit, die), {{0x100, 0x120}}));
    Listed::set(die, Slot::high_pc, {dwarf::form_addr, 0x130, {}});
    CHECK(are(ranges_of(listed.unit, die), {{0x100, 0x130}}));
    Listed::set(die, Slot::high_pc, {dwarf::form_addr, 0x80, {}});
    CHECK(ranges_of(listed.unit, die).empty());
}
