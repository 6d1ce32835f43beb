#include "program_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "byte_reader.hpp"
#include "fatal.hpp"

namespace steelyard {

namespace {

constexpr std::uint32_t packed_relocations = 19;  // SHT_RELR

}  // namespace

ProgramBytes::ProgramBytes(const std::string& path) : path_(path) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> data{std::istreambuf_iterator<char>(in), {}};
    const auto view = std::as_bytes(std::span(data));
    bytes_.assign(view.begin(), view.end());
    try {
        tables_ = std::make_unique<ElfTables>(bytes_);
        code_ = ProgramCode(*tables_);
    } catch (const Malformed&) {
        throw Fatal("It is no ELF program that can be read.");
    }
}

CallFrames ProgramBytes::frames() const {
    auto elf = ElfFile::open(path_);
    if (!elf)
        throw Malformed();
    return CallFrames(std::move(elf));
}

std::vector<GrowableFrame> ProgramBytes::growable(std::span<const PlannedFunction> functions) const
    try {
    CallFrames tables = frames();
    return growable_frames(functions, code_.bytes(), tables, pads());
} catch (const Malformed&) {
    throw Fatal("It is no ELF program that can be read.");
}

ProgramCalls ProgramBytes::calls(std::span<const PlannedFunction> functions) const try {
    CallFrames tables = frames();
    return direct_calls(functions, code_.bytes(), tables);
} catch (const Malformed&) {
    throw Fatal("It is no ELF program that can be read.");
}

std::vector<AligningFunction> ProgramBytes::aligned(
    std::span<const PlannedFunction> functions) const try {
    CallFrames tables = frames();
    return aligning_functions(functions, code_.bytes(), tables);
} catch (const Malformed&) {
    throw Fatal("It is no ELF program that can be read.");
}

std::vector<ClonableFunction> ProgramBytes::clonable(
    std::span<const PlannedFunction> functions) const try {
    CallFrames tables = frames();
    const std::unordered_set<std::uint64_t> named = taken(functions);
    return clonable_functions(functions, code_.bytes(), tables, {named.begin(), named.end()});
} catch (const Malformed&) {
    throw Fatal("It is no ELF program that can be read.");
}

std::unordered_set<std::uint64_t> ProgramBytes::taken(
    std::span<const PlannedFunction> functions) const {
    const auto sections = tables_->sections();
    const bool is_packed = std::ranges::any_of(sections, [](const NamedHeader& section) {
        return section.header.sh_type == packed_relocations;
    });
    if (tables_->header().e_type != ET_DYN || is_packed)
        return named(functions);
    // Its addresses are small numbers, as many others are: only relocations and code name them.
    auto found = computed_addresses(functions, code_.bytes());
    for (const NamedHeader& section : sections) {
        if (section.header.sh_type == SHT_RELA)
            add_named(section, found);
    }
    return found;
}

std::unordered_set<std::uint64_t> ProgramBytes::named(
    std::span<const PlannedFunction> functions) const try {
    std::unordered_set<std::uint64_t> found = addresses_in_code(functions, code_.bytes());
    for (const NamedHeader& section : tables_->sections())
        add_named(section, found);
    return found;
} catch (const Malformed&) {
    throw Fatal("It is no ELF program that can be read.");
}

void ProgramBytes::add_named(const NamedHeader& section,
                             std::unordered_set<std::uint64_t>& found) const {
    const Elf64_Shdr& header = section.header;
    if ((header.sh_flags & SHF_ALLOC) == 0 || header.sh_type == SHT_NOBITS ||
        (header.sh_flags & SHF_EXECINSTR) != 0 || section.name.starts_with(".eh_frame"))
        return;
    const Bytes bytes = tables_->part(header.sh_offset, header.sh_size);
    const auto add_each = [&]<typename Row>(Row /*unused*/, auto value) {
        for (std::size_t at = 0; at + sizeof(Row) <= bytes.size(); at += sizeof(Row)) {
            Row row{};
            std::memcpy(&row, &bytes[at], sizeof row);
            found.insert(static_cast<std::uint64_t>(value(row)));
        }
    };
    if (header.sh_type == SHT_RELA)
        add_each(Elf64_Rela{}, [](const Elf64_Rela& row) { return row.r_addend; });
    else if (header.sh_type == SHT_DYNSYM)
        add_each(Elf64_Sym{}, [](const Elf64_Sym& row) { return row.st_value; });
    else if (header.sh_type != SHT_STRTAB)
        add_each(std::uint64_t{}, [](std::uint64_t row) { return row; });
}

std::vector<std::uint64_t> ProgramBytes::pads() const {
    std::vector<std::uint64_t> found;
    for (const auto& [name, header] : tables_->sections()) {
        if (name != ".debug_steelyard_pads")
            continue;
        const Bytes section = tables_->part(header.sh_offset, header.sh_size);
        found.resize(section.size() / sizeof(std::uint64_t));
        std::memcpy(found.data(), section.data(), found.size() * sizeof(std::uint64_t));
    }
    std::ranges::sort(found);
    return found;
}

std::uint64_t ProgramBytes::offset_of(std::uint64_t address) const {
    for (const Elf64_Phdr& segment : tables_->segments()) {
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz)
            return address - segment.p_vaddr + segment.p_offset;
    }
    throw Fatal("Its tables lead out of the file.");
}

}  // namespace steelyard
