#include "program_file.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "byte_reader.hpp"
#include "fatal.hpp"
#include "own_program.hpp"
#include "tests.hpp"

using namespace steelyard;

namespace {

enum class Outcome { read, malformed, fatal };

Outcome outcome_of(Bytes bytes) {
    try {
        const ProgramFile file(bytes);
    } catch (const Malformed&) {
        return Outcome::malformed;
    } catch (const Fatal&) {
        return Outcome::fatal;
    }
    return Outcome::read;
}

/// A copy with another header.
template <typename Change>
std::vector<std::byte> changed(Change change) {
    const Bytes own = own_bytes();
    std::vector<std::byte> copy(own.begin(), own.end());
    Elf64_Ehdr header{};
    std::memcpy(&header, copy.data(), sizeof header);
    change(header);
    std::memcpy(copy.data(), &header, sizeof header);
    return copy;
}

}  // namespace

TEST("a program's sections, symbols and libraries are read") {
    const ProgramFile file(own_bytes());
    CHECK(!file.is_stripped());
    const Section* const text = file.section(".text");
    CHECK(text != nullptr);
    if (text == nullptr)
        return;
    CHECK(text->is_code() && !text->is_writable());
    CHECK(file.section(".no such section") == nullptr);
    CHECK(file.section_at(text->address + text->size - 1) == text);
    CHECK(file.section_at(text->address + text->size) != text);
    CHECK(file.bytes_at(text->address + 1).size() == text->size - 1);
    CHECK(std::ranges::count(file.libraries(), "libc.so.6") == 1);
    CHECK(std::ranges::any_of(file.symbols(), [text](const Symbol& symbol) {
        return symbol.name == "main" && symbol.is_function && text->holds(symbol.address);
    }));
}

TEST("sections without contents in the file have none, and are found by their addresses") {
    const ProgramFile file(own_bytes());
    const Section* const zeros = file.section(".bss");
    CHECK(zeros != nullptr);
    if (zeros == nullptr)
        return;
    CHECK(zeros->bytes.empty() && zeros->is_writable());
    CHECK(file.section_at(zeros->address) == zeros);
    CHECK(file.bytes_at(zeros->address).empty());
    CHECK(file.section_at(~std::uint64_t{0}) == nullptr);
}

TEST("what is no program of 64 bits, little-endian, is damage") {
    CHECK(outcome_of(own_bytes()) == Outcome::read);
    CHECK(outcome_of({}) == Outcome::malformed);
    CHECK(outcome_of(own_bytes().first(sizeof(Elf64_Ehdr) - 1)) == Outcome::malformed);
    CHECK(outcome_of(changed([](Elf64_Ehdr& h) { h.e_ident[EI_CLASS] = ELFCLASS32; })) ==
          Outcome::malformed);
    CHECK(outcome_of(changed([](Elf64_Ehdr& h) { h.e_ident[EI_DATA] = ELFDATA2MSB; })) ==
          Outcome::malformed);
    CHECK(outcome_of(changed([](Elf64_Ehdr& h) { h.e_ident[0] = 'E'; })) == Outcome::malformed);
}

TEST("tables that lie outside of the file are damage") {
    const auto size = own_bytes().size();
    CHECK(outcome_of(changed([size](Elf64_Ehdr& h) { h.e_shoff = size - 1; })) ==
          Outcome::malformed);
    CHECK(outcome_of(changed([](Elf64_Ehdr& h) { h.e_shoff = ~std::uint64_t{0}; })) ==
          Outcome::malformed);
    CHECK(outcome_of(changed([](Elf64_Ehdr& h) { h.e_shnum = 0xfeff; })) == Outcome::malformed);
    CHECK(outcome_of(changed([](Elf64_Ehdr& h) { h.e_shstrndx = 0xfe00; })) == Outcome::malformed);
    CHECK(outcome_of(own_bytes().first(size / 2)) == Outcome::malformed);
}

TEST("a section whose end is past the largest number is damage") {
    const Bytes own = own_bytes();
    std::vector<std::byte> copy(own.begin(), own.end());
    Elf64_Ehdr header{};
    std::memcpy(&header, copy.data(), sizeof header);
    std::byte* const second = copy.data() + header.e_shoff + sizeof(Elf64_Shdr);
    Elf64_Shdr section{};
    std::memcpy(&section, second, sizeof section);
    section.sh_offset = ~std::uint64_t{0} - 15;
    section.sh_size = 32;
    std::memcpy(second, &section, sizeof section);
    CHECK(outcome_of(copy) == Outcome::malformed);
}

TEST("another machine's code and what is no program are refused in words") {
    CHECK(outcome_of(changed([](Elf64_Ehdr& h) { h.e_machine = EM_RISCV; })) == Outcome::fatal);
    CHECK(outcome_of(changed([](Elf64_Ehdr& h) { h.e_type = ET_REL; })) == Outcome::fatal);
    CHECK(outcome_of(changed([](Elf64_Ehdr& h) { h.e_type = ET_CORE; })) == Outcome::fatal);
}

TEST("a text ends at its NUL or with the bytes") {
    constexpr char letters[] = {'a', 'b', 0, 'c', 'd'};
    const Bytes bytes = std::as_bytes(std::span(letters));
    CHECK(text_at(bytes, 0) == "ab" && text_at(bytes, 1) == "b" && text_at(bytes, 2).empty());
    CHECK(text_at(bytes, 3) == "cd");
    CHECK(text_at(bytes, 5).empty() && text_at(bytes, ~std::uint64_t{0}).empty());
}
