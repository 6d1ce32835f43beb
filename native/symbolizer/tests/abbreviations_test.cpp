#include "abbreviations.hpp"

#include "dwarf.hpp"
#include "tests.hpp"
#include "written_bytes.hpp"

using namespace steelyard;

namespace {

bool has(const Abbreviations& table, std::uint64_t code) {
    try {
        table.at(code);
    } catch (const Malformed&) {
        return false;
    }
    return true;
}

}  // namespace

TEST("an entry's shape is found by its code, whatever order and gaps the codes have") {
    WrittenBytes written;
    written.small({1, dwarf::tag_compile_unit, 1, dwarf::at_name, dwarf::form_string, 0, 0})
        .small({9, dwarf::tag_subprogram, 0, 0, 0})
        .small({2, dwarf::tag_namespace, 1, 0, 0})
        .u8(0);
    const Abbreviations table(written.bytes());
    CHECK(table.at(1).tag == dwarf::tag_compile_unit && table.at(1).has_children);
    CHECK(table.at(1).attributes.size() == 1);
    CHECK(table.at(1).attributes[0].slot == Slot::name);
    CHECK(table.at(1).attributes[0].form == dwarf::form_string);
    CHECK(table.at(9).tag == dwarf::tag_subprogram && !table.at(9).has_children);
    CHECK(table.at(2).tag == dwarf::tag_namespace);
    CHECK(!has(table, 0) && !has(table, 3) && !has(table, ~std::uint64_t{0}));
}

TEST("a value that stands in the shape itself is read with its sign") {
    WrittenBytes written;
    written.small({1, dwarf::tag_subprogram, 0, dwarf::at_decl_line, dwarf::form_implicit_const})
        .small({0x7e, dwarf::at_name, dwarf::form_string, 0, 0, 0});
    const Abbreviations table(written.bytes());
    CHECK(table.at(1).attributes.size() == 2);
    CHECK(table.at(1).attributes[0].implicit == -2);
}

TEST("an attribute that nobody asks for keeps its form, so that it can be skipped") {
    WrittenBytes written;
    written.small({1, dwarf::tag_subprogram, 0, 0x7f, dwarf::form_data4, 0, 0, 0});
    const Abbreviations table(written.bytes());
    CHECK(table.at(1).attributes[0].slot == Slot::count);
    CHECK(table.at(1).attributes[0].form == dwarf::form_data4);
}

TEST("a table that is cut off anywhere is damage") {
    WrittenBytes written;
    written.small({1, dwarf::tag_compile_unit, 1, dwarf::at_name, dwarf::form_string, 0, 0, 0});
    for (std::size_t size = 0; size < written.bytes().size(); ++size) {
        bool refused = false;
        try {
            const Abbreviations cut(written.bytes().first(size));
        } catch (const Malformed&) {
            refused = true;
        }
        CHECK(refused);
    }
}
