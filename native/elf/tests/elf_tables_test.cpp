#include "elf_tables.hpp"

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "byte_reader.hpp"
#include "tests.hpp"

namespace steelyard {
namespace {

constexpr std::string_view names("\0.text\0.names\0", 14);
constexpr std::uint32_t text_name = 1, names_name = 7;

/// A file of a header, a program header, the names, and three sections.
struct Example {
    Elf64_Ehdr header{};
    Elf64_Phdr segment{};
    std::array<char, names.size()> texts{};
    std::array<Elf64_Shdr, 3> sections{};

    Example() {
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_phoff = sizeof header;
        header.e_phentsize = sizeof segment;
        header.e_phnum = 1;
        header.e_shoff = sizeof header + sizeof segment + names.size();
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = static_cast<Elf64_Half>(sections.size());
        header.e_shstrndx = 2;
        segment.p_type = PT_LOAD;
        names.copy(texts.data(), names.size());
        sections[1].sh_name = text_name;
        sections[2].sh_name = names_name;
        sections[2].sh_offset = sizeof header + sizeof segment;
        sections[2].sh_size = names.size();
    }

    std::vector<std::byte> bytes() const {
        std::vector<std::byte> all;
        const auto add = [&all](const auto& part) {
            const auto some = std::as_bytes(std::span(&part, 1));
            all.insert(all.end(), some.begin(), some.end());
        };
        add(header);
        add(segment);
        add(texts);
        add(sections);
        return all;
    }
};

bool sections_are_refused(const std::vector<std::byte>& file) {
    try {
        static_cast<void>(ElfTables(file).sections());
        return false;
    } catch (const Malformed&) {
        return true;
    }
}

TEST("sections have their names, and segments are read") {
    const auto file = Example().bytes();
    const ElfTables tables(file);
    const auto sections = tables.sections();
    CHECK(sections.size() == 3 && sections[1].name == ".text" && sections[2].name == ".names");
    CHECK(tables.segments().size() == 1 && tables.segments()[0].p_type == PT_LOAD);
}

TEST("counts that have no room in the header are in the first section's") {
    Example example;
    example.header.e_shnum = 0;
    example.header.e_shstrndx = SHN_XINDEX;
    example.sections[0].sh_size = 3;
    example.sections[0].sh_link = 2;
    const auto file = example.bytes();
    const auto sections = ElfTables(file).sections();
    CHECK(sections.size() == 3 && sections[1].name == ".text");
}

TEST("a file without a table of sections has none") {
    Example example;
    example.header.e_shoff = 0;
    const auto file = example.bytes();
    CHECK(ElfTables(file).sections().empty());
}

TEST("a name outside of the table of names is empty") {
    Example example;
    example.sections[1].sh_name = 1000;
    const auto file = example.bytes();
    CHECK(ElfTables(file).sections()[1].name.empty());
}

TEST("tables that the file does not hold are refused") {
    std::vector<Example> damaged(5);
    damaged[0].header.e_shoff = ~std::uint64_t{0} - 7;
    damaged[1].header.e_shnum = 60'000;
    damaged[2].header.e_shentsize = 0;
    damaged[3].header.e_shstrndx = 9;
    damaged[4].sections[2].sh_size = ~std::uint64_t{0};
    for (const Example& example : damaged)
        CHECK(sections_are_refused(example.bytes()));
}

TEST("a file that is cut anywhere has its sections or is refused") {
    const auto whole = Example().bytes();
    for (std::size_t kept = 0; kept < whole.size(); ++kept)
        CHECK(sections_are_refused(
            {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept)}));
}

TEST("a part beyond the file is refused, also where its end is beyond all numbers") {
    const auto file = Example().bytes();
    const ElfTables tables(file);
    const auto refused = [&tables](std::uint64_t offset, std::uint64_t size) {
        try {
            static_cast<void>(tables.part(offset, size));
            return false;
        } catch (const Malformed&) {
            return true;
        }
    };
    CHECK(!refused(0, file.size()));
    CHECK(refused(1, file.size()));
    CHECK(refused(8, ~std::uint64_t{0} - 4));
}

}  // namespace
}  // namespace steelyard
