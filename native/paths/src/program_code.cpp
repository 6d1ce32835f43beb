#include "program_code.hpp"

#include <algorithm>
#include <string_view>

#include "byte_reader.hpp"

namespace steelyard {

namespace {

// `push %es`, which is no instruction of 64-bit mode.
constexpr std::uint8_t no_instruction = 0x06;
// Files that claim to be so large are damaged: code calls over 2 GiB at most.
constexpr std::uint64_t most_bytes = 1ULL << 31U;

CodeBytes section_of(const ElfTables& tables, std::string_view wanted) {
    for (const auto& [name, header] : tables.sections()) {
        if (name != wanted || header.sh_type == SHT_NOBITS)
            continue;
        const Bytes bytes = tables.part(header.sh_offset, header.sh_size);
        return {header.sh_addr,
                {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}};
    }
    return {};
}

}  // namespace

ProgramCode::ProgramCode(const ElfTables& tables)
    : text_(section_of(tables, ".text")), clones_(section_of(tables, ".steelyard.clones")) {
    if (clones_.bytes.empty())
        return;
    const std::uint64_t begin = clones_.address - text_.address;
    if (text_.bytes.empty() || clones_.address < text_.address + text_.bytes.size() ||
        begin + clones_.bytes.size() > most_bytes)
        throw Malformed();
    image_.assign(static_cast<std::size_t>(begin + clones_.bytes.size()), no_instruction);
    std::ranges::copy(text_.bytes, image_.begin());
    std::ranges::copy(clones_.bytes, image_.begin() + static_cast<std::ptrdiff_t>(begin));
}

std::uint64_t ProgramCode::section_end(std::uint64_t address) const {
    const std::uint64_t end = text_.address + text_.bytes.size();
    return address < end ? end : clones_.address + clones_.bytes.size();
}

}  // namespace steelyard
