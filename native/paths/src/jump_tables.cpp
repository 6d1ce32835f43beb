#include "jump_tables.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "control_flow.hpp"
#include "register_effects.hpp"

namespace steelyard {

namespace {

template <typename Number>
Number number_at(Bytes bytes, std::size_t offset) {
    Number number{};
    std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
}

std::uint8_t mode(const Instruction& instruction) {
    return instruction.modrm >> 6U;
}
std::uint8_t rm(const Instruction& instruction) {
    return instruction.modrm & 7U;
}

/// Whether the instruction adds a register to the one that the other names as its operand.
bool adds_to_operand(const Instruction& add, std::span<const std::uint8_t> code,
                     const Instruction& other, std::span<const std::uint8_t> other_code) {
    constexpr std::uint8_t add_to_field = 0x01, add_to_register = 0x03, rex = 0x40, rex_mask = 0xf0;
    const auto rex_of = [](std::span<const std::uint8_t> bytes) {
        return (bytes[0] & rex_mask) == rex ? bytes[0] : rex;
    };
    if (add.map != one_byte || mode(add) != 3)
        return false;
    const unsigned wanted = rm(other) + ((rex_of(other_code) & 1U) << 3U);
    if (add.opcode == add_to_field)
        return rm(add) + ((rex_of(code) & 1U) << 3U) == wanted;
    return add.opcode == add_to_register &&
           extension_of(add) + ((rex_of(code) & 4U) << 1U) == wanted;
}

}  // namespace

bool is_table_jump(const CodeStep& step, const CodeStep* before, const StackDepths& depths) {
    constexpr std::uint8_t unchecked = 0x3e, has_index = 4;
    const Instruction& instruction = step.instruction;
    const auto code = depths.bytes_of(step);
    if (code[0] == unchecked || (mode(instruction) != 3 && rm(instruction) == has_index))
        return true;
    return mode(instruction) == 3 && before != nullptr && before->next() == step.address &&
           adds_to_operand(before->instruction, depths.bytes_of(*before), instruction, code);
}

bool is_jump_by_any_table(const CodeStep& step, const StackDepths& depths) {
    const RegisterOperands operands = register_operands(step.instruction, depths.bytes_of(step));
    return operands.base && operands.index;
}

JumpTables::JumpTables(const ElfTables& tables) {
    for (const Elf64_Phdr& segment : tables.segments()) {
        if (segment.p_type == PT_LOAD)
            segments_.emplace_back(segment.p_vaddr,
                                   tables.part(segment.p_offset, segment.p_filesz));
    }
}

Bytes JumpTables::bytes_from(std::uint64_t address) const {
    for (const auto& [start, bytes] : segments_) {
        if (address >= start && address - start < bytes.size())
            return bytes.subspan(static_cast<std::size_t>(address - start));
    }
    return {};
}

std::vector<std::uint64_t> JumpTables::targets(
    const StackDepths& depths,
    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& parts) const {
    const auto is_within = [&parts](std::uint64_t address) {
        return std::ranges::any_of(parts, [address](const auto& part) {
            return address >= part.first && address < part.second;
        });
    };
    std::vector<std::uint64_t> found;
    const auto read = [&](std::uint64_t table, std::size_t entry_bytes, const auto& target_of) {
        const Bytes bytes = bytes_from(table);
        for (std::size_t at = 0; at + entry_bytes <= bytes.size(); at += entry_bytes) {
            const std::uint64_t target = target_of(bytes, at);
            if (!is_within(target))
                return;
            found.push_back(target);
        }
    };
    for (const CodeStep& step : depths.steps()) {
        const auto code = depths.bytes_of(step);
        if (step.instruction.field == Field::address) {
            const std::uint64_t table =
                step.next() + static_cast<std::uint64_t>(field_distance(step.instruction, code));
            if (!is_within(table))
                read(table, sizeof(std::int32_t), [table](Bytes bytes, std::size_t at) {
                    return table + static_cast<std::uint64_t>(
                                       std::int64_t{number_at<std::int32_t>(bytes, at)});
                });
        } else if (step.instruction.displacement_bytes == sizeof(std::int32_t)) {
            const auto table = static_cast<std::uint64_t>(displacement_of(step.instruction, code));
            read(table, sizeof(std::uint64_t),
                 [](Bytes bytes, std::size_t at) { return number_at<std::uint64_t>(bytes, at); });
        }
    }
    std::ranges::sort(found);
    found.erase(std::ranges::unique(found).begin(), found.end());
    return found;
}

}  // namespace steelyard
