#include "sections.hpp"

#include <string>

#include "temporary_folder.hpp"
#include "tests.hpp"
#include "written_bytes.hpp"

using namespace steelyard;

namespace {

bool is_malformed_at(const Sections& sections, std::uint64_t offset) {
    try {
        sections.text(SectionKind::str, offset);
    } catch (const Malformed&) {
        return true;
    }
    return false;
}

}  // namespace

TEST("a section of a split unit is of the same kind as the program's own") {
    CHECK(section_kind(".debug_info") == SectionKind::info);
    CHECK(section_kind(".debug_info.dwo") == SectionKind::info);
    CHECK(section_kind(".debug_rnglists.dwo") == SectionKind::rnglists);
    CHECK(section_kind(".debug_loc") == SectionKind::count);
    CHECK(section_kind(".dwo") == SectionKind::count);
}

TEST("a text ends at its NUL, and one without or past the end is damage") {
    WrittenBytes written;
    written.text("one").text("two").u8('x');
    Sections sections;
    sections.set(SectionKind::str, written.bytes());
    CHECK(sections.text(SectionKind::str, 0) == "one");
    CHECK(sections.text(SectionKind::str, 4) == "two");
    CHECK(sections.text(SectionKind::str, 5) == "wo");
    CHECK(is_malformed_at(sections, 8));
    CHECK(is_malformed_at(sections, 9));
    CHECK(is_malformed_at(sections, 10));
    CHECK(is_malformed_at(sections, ~std::uint64_t{0}));
    CHECK(is_malformed_at(Sections(), 0));
}

TEST("a part of a file is what lies there, and nothing where the file is shorter or none") {
    const TemporaryFolder folder;
    folder.put("file", "0123456789");
    MappedFiles files;
    const Bytes part = files.part(folder.at("file"), 3, 4);
    CHECK(part.size() == 4 && std::memcmp(part.data(), "3456", 4) == 0);
    CHECK(files.part(folder.at("file"), 0, 10).size() == 10);
    CHECK(files.part(folder.at("file"), 3, 8).empty());
    CHECK(files.part(folder.at("file"), 11, 0).empty());
    CHECK(files.part(folder.at("file"), 3, ~std::uint64_t{0}).empty());
    CHECK(files.part(folder.at("missing"), 0, 1).empty());
    CHECK(files.part(folder.path(), 0, 1).empty());
}
