#include "stack_use.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace steelyard {

namespace {

constexpr std::uint8_t stack = 4, frame = 5, no_index = 4;  // numbers in ModRM and SIB

/// The upper bits of the register numbers of an instruction (Intel SDM volume 2, 2.2.1 and 2.3.5).
struct HighBits {
    bool reg = false, index = false, base = false;
};

bool is_legacy_prefix(std::uint8_t byte) {
    constexpr std::array<std::uint8_t, 11> prefixes{0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x36,
                                                    0x3e, 0x26, 0x64, 0x65, 0xf0};
    return std::ranges::find(prefixes, byte) != prefixes.end();
}

HighBits high_bits(const Instruction& instruction, std::span<const std::uint8_t> code) {
    constexpr std::uint8_t rex = 0x40, rex_mask = 0xf0, two_byte_vex = 0xc5;
    std::size_t at = 0;
    while (at + 1 < instruction.length && is_legacy_prefix(code[at]))
        ++at;
    if (instruction.vector_encoding) {
        const std::uint8_t bits = code[at + 1];
        const bool is_short = code[at] == two_byte_vex;
        return {(bits & 0x80U) == 0, !is_short && (bits & 0x40U) == 0,
                !is_short && (bits & 0x20U) == 0};
    }
    if ((code[at] & rex_mask) != rex)
        return {};
    return {(code[at] & 4U) != 0, (code[at] & 2U) != 0, (code[at] & 1U) != 0};
}

std::int64_t number(std::span<const std::uint8_t> code, std::size_t offset, std::size_t bytes) {
    if (bytes == 1)
        return static_cast<std::int8_t>(code[offset]);
    std::int32_t value = 0;
    if (bytes == sizeof value)
        std::memcpy(&value, &code[offset], sizeof value);
    return value;
}

std::uint8_t mode(const Instruction& instruction) {
    return instruction.modrm >> 6U;
}
std::uint8_t reg(const Instruction& instruction) {
    return instruction.modrm >> 3U & 7U;
}
std::uint8_t rm(const Instruction& instruction) {
    return instruction.modrm & 7U;
}

/// An operand by the frame pointer: `rbp` in ModRM, or as base in SIB.
void read_frame_operand(const Instruction& instruction, std::span<const std::uint8_t> code,
                        const HighBits& high, StackUse& use) {
    if (!instruction.memory_operand || mode(instruction) == 0 || mode(instruction) == 3 ||
        high.base)
        return;
    const bool by_base =
        rm(instruction) == 4 && (code[instruction.displacement_offset - 1U] & 7U) == frame;
    if (rm(instruction) != frame && !by_base)
        return;
    use.has_frame_operand = true;
    use.frame_displacement =
        number(code, instruction.displacement_offset, instruction.displacement_bytes);
}

void read_operand(const Instruction& instruction, std::span<const std::uint8_t> code,
                  const HighBits& high, StackUse& use) {
    if (!instruction.memory_operand || mode(instruction) == 3 || rm(instruction) != 4)
        return;
    const std::uint8_t sib = code[instruction.displacement_offset - 1U];
    constexpr std::uint8_t evex = 0x62;
    const bool no_base = (sib & 7U) == frame && mode(instruction) == 0;
    if ((sib & 7U) != stack || high.base || no_base)
        return;
    use.has_operand = true;
    use.is_indexed = (sib >> 3U & 7U) != no_index || high.index;
    use.is_address = instruction.map == one_byte && instruction.opcode == 0x8d;
    use.is_scaled = code[0] == evex && instruction.displacement_bytes == 1;
    use.displacement_offset = instruction.displacement_offset;
    use.displacement_bytes = instruction.displacement_bytes;
    use.displacement =
        number(code, instruction.displacement_offset, instruction.displacement_bytes);
}

/// Instructions that have a general register of more than one byte in the `reg` field.
bool has_register_field(const Instruction& instruction) {
    const std::uint8_t opcode = instruction.opcode;
    constexpr std::array<std::uint8_t, 9> others{0x63, 0x69, 0x6b, 0x85, 0x87,
                                                 0x89, 0x8b, 0x8d, 0xc4};
    constexpr std::array<std::uint8_t, 17> others_0f{0xa3, 0xa4, 0xa5, 0xab, 0xac, 0xad,
                                                     0xaf, 0xb1, 0xb3, 0xb6, 0xb7, 0xb8,
                                                     0xbb, 0xbc, 0xbd, 0xbe, 0xbf};
    if (instruction.vector_encoding)
        return false;
    if (instruction.map == one_byte)
        return (opcode < 0x40 && ((opcode & 7U) == 1 || (opcode & 7U) == 3)) ||
               std::ranges::find(others, opcode) != others.end();
    if (instruction.map == map_0f)
        return (opcode >= 0x40 && opcode <= 0x4f) ||
               std::ranges::find(others_0f, opcode) != others_0f.end();
    return false;
}

/// The stack pointer is the operand of ModRM that is no register of vectors.
bool names_in_rm(const Instruction& instruction, const HighBits& high) {
    constexpr std::array<std::uint8_t, 7> groups{0x81, 0x83, 0xc1, 0xc7, 0xd1, 0xd3, 0xf7};
    const std::uint8_t opcode = instruction.opcode;
    const bool in_group = instruction.map == one_byte &&
                          (std::ranges::find(groups, opcode) != groups.end() || opcode == 0xff);
    return instruction.modrm != 0 && mode(instruction) == 3 && rm(instruction) == stack &&
           !high.base && (in_group || has_register_field(instruction));
}

/// `mov` in either direction and `lea`, of the stack pointer and another register.
StackUse::Kind kind_of_move(const Instruction& instruction, const HighBits& high) {
    const bool in_reg = reg(instruction) == stack && !high.reg;
    const bool in_rm = names_in_rm(instruction, high);
    if (instruction.opcode == 0x8d) {
        const bool from_frame = rm(instruction) == frame && mode(instruction) != 0 && !high.base;
        return from_frame ? StackUse::Kind::by_frame_pointer : StackUse::Kind::other;
    }
    const bool writes_rm = instruction.opcode == 0x89;
    if (writes_rm ? in_rm : in_reg) {
        const bool by_frame =
            mode(instruction) == 3 && (writes_rm ? reg(instruction) == frame && !high.reg
                                                 : rm(instruction) == frame && !high.base);
        return by_frame ? StackUse::Kind::by_frame_pointer : StackUse::Kind::other;
    }
    const bool to_frame =
        mode(instruction) == 3 && (writes_rm ? rm(instruction) == frame && !high.base
                                             : reg(instruction) == frame && !high.reg);
    return to_frame ? StackUse::Kind::to_frame_pointer : StackUse::Kind::read;
}

StackUse::Kind kind_of(const Instruction& instruction, const HighBits& high) {
    const std::uint8_t opcode = instruction.opcode;
    const bool is_one_byte = instruction.map == one_byte && !instruction.vector_encoding;
    if (is_one_byte) {
        if ((opcode >= 0x50 && opcode <= 0x57) || opcode == 0x68 || opcode == 0x6a ||
            opcode == 0x9c || (opcode == 0xff && reg(instruction) == 6))
            return StackUse::Kind::push;
        if (opcode == 0x5c && !high.base)
            return StackUse::Kind::other;
        if ((opcode >= 0x58 && opcode <= 0x5f) || opcode == 0x9d)
            return StackUse::Kind::pop;
        if (opcode == 0x8f || opcode == 0xc8 || (opcode == 0x94 && !high.base))
            return StackUse::Kind::other;
        if (opcode == 0xc9)
            return StackUse::Kind::by_frame_pointer;
    }
    const bool in_reg = has_register_field(instruction) && reg(instruction) == stack && !high.reg;
    const bool in_rm = names_in_rm(instruction, high);
    if (!in_reg && !in_rm)
        return StackUse::Kind::none;
    if (is_one_byte && (opcode == 0x89 || opcode == 0x8b || opcode == 0x8d))
        return kind_of_move(instruction, high);
    const bool by_number = is_one_byte && (opcode == 0x81 || opcode == 0x83) && instruction.wide;
    if (by_number && reg(instruction) == 5)
        return StackUse::Kind::allocate;
    if (by_number && reg(instruction) == 0)
        return StackUse::Kind::release;
    return StackUse::Kind::other;
}

}  // namespace

StackUse stack_use(const Instruction& instruction, std::span<const std::uint8_t> code) {
    StackUse use;
    const HighBits high = high_bits(instruction, code);
    read_operand(instruction, code, high, use);
    read_frame_operand(instruction, code, high, use);
    use.kind = kind_of(instruction, high);
    if (use.kind == StackUse::Kind::allocate || use.kind == StackUse::Kind::release) {
        use.amount_offset = instruction.immediate_offset;
        use.amount_bytes = instruction.immediate_bytes;
        use.amount = number(code, use.amount_offset, use.amount_bytes);
    }
    return use;
}

}  // namespace steelyard
