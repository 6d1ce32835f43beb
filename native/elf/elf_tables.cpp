#include "elf_tables.hpp"

#include <algorithm>
#include <cstring>

#include "byte_reader.hpp"
#include "value_at.hpp"

namespace steelyard {

std::string_view text_at(Bytes bytes, std::uint64_t offset) {
    if (offset >= bytes.size())
        return {};
    const auto* const begin = reinterpret_cast<const char*>(bytes.data()) + offset;
    const std::size_t left = bytes.size() - static_cast<std::size_t>(offset);
    const void* const end = std::memchr(begin, 0, left);
    if (end == nullptr)
        return {begin, left};
    return {begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin)};
}

ElfTables::ElfTables(Bytes file) : file_(file), header_(value_at<Elf64_Ehdr>(file, 0)) {
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB)
        throw Malformed();
}

Bytes ElfTables::part(std::uint64_t offset, std::uint64_t size) const {
    if (offset > file_.size() || size > file_.size() - offset)
        throw Malformed();
    return file_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

std::vector<NamedHeader> ElfTables::sections() const {
    std::vector<NamedHeader> found;
    if (header_.e_shoff == 0)
        return found;
    if (header_.e_shentsize != sizeof(Elf64_Shdr))
        throw Malformed();
    // Numbers that have no room in the header are in the first section's.
    const auto first = value_at<Elf64_Shdr>(file_, header_.e_shoff);
    const std::uint64_t count = header_.e_shnum == 0 ? first.sh_size : header_.e_shnum;
    const std::uint32_t names =
        header_.e_shstrndx == SHN_XINDEX ? first.sh_link : header_.e_shstrndx;
    const Bytes table =
        part(header_.e_shoff, std::min<std::uint64_t>(count, file_.size()) * sizeof(Elf64_Shdr));
    const auto names_header = value_at<Elf64_Shdr>(table, names * sizeof(Elf64_Shdr));
    const Bytes texts = part(names_header.sh_offset, names_header.sh_size);
    for (std::uint64_t place = 0; place < count; ++place) {
        const auto one = value_at<Elf64_Shdr>(table, place * sizeof(Elf64_Shdr));
        found.push_back({text_at(texts, one.sh_name), one});
    }
    return found;
}

std::vector<Elf64_Phdr> ElfTables::segments() const {
    std::vector<Elf64_Phdr> found;
    if (header_.e_phnum == 0)
        return found;
    if (header_.e_phentsize != sizeof(Elf64_Phdr))
        throw Malformed();
    const Bytes table = part(header_.e_phoff, header_.e_phnum * sizeof(Elf64_Phdr));
    for (std::uint64_t at = 0; at < table.size(); at += sizeof(Elf64_Phdr))
        found.push_back(value_at<Elf64_Phdr>(table, at));
    return found;
}

}  // namespace steelyard
