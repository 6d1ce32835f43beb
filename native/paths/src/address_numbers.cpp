#include "address_numbers.hpp"

#include <cstring>

namespace steelyard {

namespace {

template <typename Number>
std::uint64_t value_of(std::span<const std::uint8_t> code, std::size_t offset) {
    Number value = 0;
    std::memcpy(&value, &code[offset], sizeof value);
    return value;
}

}  // namespace

AddressNumbers::AddressNumbers(const ElfTables& tables)
    : has_fixed_addresses_(tables.header().e_type == ET_EXEC) {
    // `_GLOBAL_OFFSET_TABLE_` is one of both.
    for (const NamedHeader& section : tables.sections()) {
        if (section.name == ".got" || section.name == ".got.plt")
            offset_tables_.push_back(section.header.sh_addr);
    }
}

std::vector<std::uint64_t> AddressNumbers::in(const Instruction& instruction,
                                              std::span<const std::uint8_t> code) const {
    if (instruction.immediate_bytes == sizeof(std::uint32_t) && has_fixed_addresses_)
        return {value_of<std::uint32_t>(code, instruction.immediate_offset)};
    if (instruction.immediate_bytes != sizeof(std::uint64_t))
        return {};
    const auto number = value_of<std::uint64_t>(code, instruction.immediate_offset);
    std::vector<std::uint64_t> found{number};
    for (const std::uint64_t table : offset_tables_)
        found.push_back(table + number);
    return found;
}

}  // namespace steelyard
