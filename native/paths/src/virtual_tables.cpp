#include "virtual_tables.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "value_at.hpp"

namespace steelyard {

namespace {

constexpr std::uint64_t word = sizeof(std::uint64_t);
// A longer one is damaged.
constexpr std::uint64_t most_bytes = 1U << 20U;
constexpr std::string_view type_info = "_ZTI";

bool is_table(std::string_view name) {
    return name.starts_with("_ZTV") || name.starts_with("_ZTC");
}

}  // namespace

VirtualTables::VirtualTables(const ElfTables& tables, const ProgramReferences& references) {
    read_symbols(tables);
    read_points(tables, references);
}

void VirtualTables::read_symbols(const ElfTables& tables) {
    const auto sections = tables.sections();
    for (const auto& [section, header] : sections) {
        if ((header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) ||
            header.sh_link >= sections.size())
            continue;
        const Elf64_Shdr& texts = sections[header.sh_link].header;
        const Bytes symbols = tables.part(header.sh_offset, header.sh_size);
        const Bytes names = tables.part(texts.sh_offset, texts.sh_size);
        for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size();
             at += sizeof(Elf64_Sym)) {
            const auto symbol = value_at<Elf64_Sym>(symbols, at);
            if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT)
                continue;
            const std::string_view name = text_at(names, symbol.st_name);
            if (name.starts_with(type_info))
                type_infos_.insert(symbol.st_value);
            else if (is_table(name) && symbol.st_size <= most_bytes)
                ends_[symbol.st_value] = symbol.st_value + symbol.st_size;
        }
    }
}

void VirtualTables::read_points(const ElfTables& tables, const ProgramReferences& references) {
    for (const auto& [name, header] : tables.sections()) {
        if (header.sh_type != SHT_PROGBITS || (header.sh_flags & SHF_ALLOC) == 0)
            continue;
        const Bytes bytes = tables.part(header.sh_offset, header.sh_size);
        const auto from = ends_.lower_bound(header.sh_addr);
        const auto to = ends_.lower_bound(header.sh_addr + header.sh_size);
        for (const auto& [start, end] : std::ranges::subrange(from, to)) {
            for (std::uint64_t at = start; at + word <= end; at += word) {
                const Slot* const slot = references.slot(at);
                const std::uint64_t value =
                    slot != nullptr ? slot->address
                                    : value_at<std::uint64_t>(bytes, at - header.sh_addr);
                if (type_infos_.contains(value) ||
                    (slot != nullptr && slot->symbol.starts_with(type_info)))
                    points_[start].insert(at + word);
            }
        }
    }
}

std::optional<std::uint64_t> VirtualTables::offset_of(std::uint64_t place) const {
    const auto after = ends_.upper_bound(place);
    if (after == ends_.begin() || place >= std::prev(after)->second)
        return std::nullopt;
    const auto points = points_.find(std::prev(after)->first);
    if (points == points_.end())
        return std::nullopt;
    const auto point = points->second.upper_bound(place);
    if (point == points->second.begin())
        return std::nullopt;
    return place - *std::prev(point);
}

}  // namespace steelyard
