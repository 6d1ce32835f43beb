#include "elf_image.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "byte_reader.hpp"
#include "elf_tables.hpp"

namespace steelyard::layout {

namespace {

constexpr std::uint64_t section_alignment_bytes = 4096;  // the runtime maps sections whole

std::vector<std::uint8_t> file_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw ImageError("cannot be read");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <typename T>
void append(std::vector<std::uint8_t>& bytes, const T& value) {
    const auto* start = reinterpret_cast<const std::uint8_t*>(&value);
    bytes.insert(bytes.end(), start, start + sizeof value);
}

void pad(std::vector<std::uint8_t>& bytes, std::uint64_t alignment) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

ElfTables tables_of(const std::vector<std::uint8_t>& bytes) try {
    return ElfTables(std::as_bytes(std::span(bytes)));
} catch (const Malformed&) {
    throw ImageError("is not an ELF file for x86-64");
}

}  // namespace

template <typename T>
T ElfImage::read(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T))
        throw ImageError("is cut off");
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
}

ElfImage::ElfImage(const std::string& path) : bytes_(file_bytes(path)) {
    const ElfTables tables = tables_of(bytes_);
    header_ = tables.header();
    if (header_.e_machine != EM_X86_64)
        throw ImageError("is not an ELF file for x86-64");
    if (header_.e_type != ET_DYN && header_.e_type != ET_EXEC)
        throw ImageError("is not a linked program");
    try {
        for (const NamedHeader& each : tables.sections())
            sections_.push_back({"", each.header});
    } catch (const Malformed&) {
        throw ImageError("is cut off");
    }
    // One is added: its number has to have room in the header.
    if (sections_.size() + 1 >= SHN_LORESERVE)
        throw ImageError("has more sections than its header can count");
    if (header_.e_shstrndx >= sections_.size())
        throw ImageError("has no section names");
    for (auto& section : sections_)
        section.name = string_at(sections_[header_.e_shstrndx].header, section.header.sh_name);
}

std::string_view ElfImage::string_at(const Elf64_Shdr& table, std::uint32_t offset) const {
    const std::uint64_t start = table.sh_offset + offset;
    if (offset >= table.sh_size || start >= bytes_.size())
        throw ImageError("names something outside its string table");
    const auto* text = reinterpret_cast<const char*>(bytes_.data() + start);
    return {text, strnlen(text, bytes_.size() - start)};
}

std::vector<Elf64_Phdr> ElfImage::segments() const try {
    return tables_of(bytes_).segments();
} catch (const Malformed&) {
    throw ImageError("is cut off");
}

std::vector<Symbol> ElfImage::symbols() const {
    std::vector<Symbol> found;
    for (const auto& section : sections_) {
        if (section.header.sh_type != SHT_SYMTAB)
            continue;
        const auto& strings = sections_.at(section.header.sh_link).header;
        for (std::uint64_t at = 0; at < section.header.sh_size; at += sizeof(Elf64_Sym)) {
            const auto symbol = read<Elf64_Sym>(section.header.sh_offset + at);
            if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE)
                continue;
            found.push_back({std::string(string_at(strings, symbol.st_name)), symbol.st_value,
                             symbol.st_size,
                             static_cast<std::uint8_t>(ELF64_ST_TYPE(symbol.st_info))});
        }
    }
    return found;
}

std::vector<std::string> ElfImage::imports() const {
    std::vector<std::string> found;
    for (const auto& section : sections_) {
        if (section.header.sh_type != SHT_DYNSYM)
            continue;
        const auto& strings = sections_.at(section.header.sh_link).header;
        for (std::uint64_t at = 0; at < section.header.sh_size; at += sizeof(Elf64_Sym)) {
            const auto symbol = read<Elf64_Sym>(section.header.sh_offset + at);
            if (symbol.st_shndx == SHN_UNDEF)
                found.emplace_back(string_at(strings, symbol.st_name));
        }
    }
    return found;
}

std::vector<std::uint64_t> ElfImage::exports() const {
    std::vector<std::uint64_t> found;
    for (const auto& section : sections_) {
        if (section.header.sh_type != SHT_DYNSYM)
            continue;
        for (std::uint64_t at = 0; at < section.header.sh_size; at += sizeof(Elf64_Sym)) {
            const auto symbol = read<Elf64_Sym>(section.header.sh_offset + at);
            if (symbol.st_shndx != SHN_UNDEF)
                found.push_back(symbol.st_value);
        }
    }
    return found;
}

void ElfImage::append_relocations(std::size_t index, std::vector<Relocation>& found) const {
    const auto& header = sections_[index].header;
    const auto& symbols = sections_.at(header.sh_link).header;
    for (std::uint64_t at = 0; at < header.sh_size; at += sizeof(Elf64_Rela)) {
        const auto kept = read<Elf64_Rela>(header.sh_offset + at);
        const auto symbol =
            read<Elf64_Sym>(symbols.sh_offset + ELF64_R_SYM(kept.r_info) * sizeof(Elf64_Sym));
        found.push_back({kept.r_offset, symbol.st_value,
                         symbol.st_value + static_cast<std::uint64_t>(kept.r_addend),
                         static_cast<std::uint32_t>(ELF64_R_TYPE(kept.r_info)), header.sh_info});
    }
}

std::vector<Relocation> ElfImage::kept_relocations() const {
    std::vector<Relocation> found;
    for (std::size_t index = 0; index < sections_.size(); ++index) {
        const auto& header = sections_[index].header;
        const bool applies_to_loaded =
            header.sh_type == SHT_RELA && !sections_[index].is_loaded() &&
            header.sh_info < sections_.size() && sections_[header.sh_info].is_loaded();
        if (applies_to_loaded)
            append_relocations(index, found);
    }
    std::ranges::stable_sort(found, {}, &Relocation::address);
    return found;
}

const Section* ElfImage::section_of(std::uint64_t address) const {
    const auto found = std::ranges::find_if(
        sections_, [&](const auto& section) { return section.holds(address); });
    return found == sections_.end() ? nullptr : &*found;
}

std::span<const std::uint8_t> ElfImage::contents(std::string_view name) const {
    const auto found = std::ranges::find(sections_, name, &Section::name);
    if (found == sections_.end())
        return {};
    const auto& header = found->header;
    if ((header.sh_flags & SHF_COMPRESSED) != 0)
        throw ImageError("has compressed debugging sections; link it without -gz");
    if (header.sh_offset > bytes_.size() || bytes_.size() - header.sh_offset < header.sh_size)
        throw ImageError("is cut off");
    return {bytes_.data() + header.sh_offset, header.sh_size};
}

std::span<const std::uint8_t> ElfImage::at(std::uint64_t address) const {
    const Section* section = section_of(address);
    if (section == nullptr || section->header.sh_type == SHT_NOBITS)
        return {};
    const std::uint64_t inside = address - section->header.sh_addr;
    const std::uint64_t offset = section->header.sh_offset + inside;
    const std::uint64_t size = section->header.sh_size - inside;
    if (offset > bytes_.size() || bytes_.size() - offset < size)
        throw ImageError("is cut off");
    return {bytes_.data() + offset, size};
}

bool ElfImage::has_section(std::string_view name) const {
    return std::ranges::find(sections_, name, &Section::name) != sections_.end();
}

void ElfImage::append_section(const std::string& name, std::span<const std::uint8_t> contents) {
    pad(bytes_, section_alignment_bytes);
    Section added{name, {}};
    added.header.sh_type = SHT_PROGBITS;
    added.header.sh_offset = bytes_.size();
    added.header.sh_size = contents.size();
    added.header.sh_addralign = section_alignment_bytes;
    bytes_.insert(bytes_.end(), contents.begin(), contents.end());
    sections_.push_back(added);

    std::string names(1, '\0');
    for (auto& section : sections_) {
        section.header.sh_name = static_cast<std::uint32_t>(names.size());
        names += section.name + '\0';
    }
    auto& strings = sections_[header_.e_shstrndx].header;
    strings.sh_offset = bytes_.size();
    strings.sh_size = names.size();
    bytes_.insert(bytes_.end(), names.begin(), names.end());

    pad(bytes_, alignof(Elf64_Shdr));
    header_.e_shoff = bytes_.size();
    header_.e_shnum = static_cast<std::uint16_t>(sections_.size());
    for (const auto& section : sections_)
        append(bytes_, section.header);
    std::memcpy(bytes_.data(), &header_, sizeof header_);
}

void ElfImage::write(const std::string& path) const {
    struct stat before{};
    const bool existed = stat(path.c_str(), &before) == 0;
    const std::string partial = path + ".steelyard-" + std::to_string(getpid());
    std::ofstream file(partial, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes_.data()),
               static_cast<std::streamsize>(bytes_.size()));
    file.close();
    const bool written = file &&
                         (!existed || chmod(partial.c_str(), before.st_mode & 07777U) == 0) &&
                         rename(partial.c_str(), path.c_str()) == 0;
    if (!written) {
        unlink(partial.c_str());
        throw ImageError("cannot be written");
    }
}

}  // namespace steelyard::layout
