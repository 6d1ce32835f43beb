#include "constant_tables.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "value_at.hpp"

namespace steelyard {

namespace {

constexpr std::uint64_t most_bytes = 1U << 20U;

}  // namespace

ConstantTables::ConstantTables(const ElfTables& tables) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> constant;
    for (const Elf64_Phdr& segment : tables.segments()) {
        const bool is_constant = segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0;
        if (is_constant || segment.p_type == PT_GNU_RELRO)
            constant.emplace_back(segment.p_vaddr, segment.p_vaddr + segment.p_memsz);
    }
    for (const auto& [name, header] : tables.sections()) {
        if (header.sh_type != SHT_SYMTAB)
            continue;
        const Bytes symbols = tables.part(header.sh_offset, header.sh_size);
        for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size();
             at += sizeof(Elf64_Sym)) {
            const auto symbol = value_at<Elf64_Sym>(symbols, at);
            const std::uint64_t start = symbol.st_value, end = start + symbol.st_size;
            const bool is_table = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT &&
                                  symbol.st_size >= sizeof(std::uint64_t) &&
                                  symbol.st_size <= most_bytes;
            if (is_table && std::ranges::any_of(constant, [&](const auto& part) {
                    return start >= part.first && end <= part.second;
                }))
                ends_[start] = std::max(ends_[start], end);
        }
    }
}

std::optional<std::uint64_t> ConstantTables::at(std::uint64_t address) const {
    const auto after = ends_.upper_bound(address);
    if (after == ends_.begin() || address >= std::prev(after)->second)
        return std::nullopt;
    return std::prev(after)->first;
}

}  // namespace steelyard
