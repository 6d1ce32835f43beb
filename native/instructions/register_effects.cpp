#include "register_effects.hpp"

#include "control_flow.hpp"

namespace steelyard {

namespace {

using Set = std::uint16_t;

constexpr Set all = 0xffff;
constexpr Set rax = 1U << 0U, rcx = 1U << 1U, rdx = 1U << 2U, rbp = 1U << 5U, rsi = 1U << 6U,
              rdi = 1U << 7U;

constexpr bool is_between(std::uint8_t opcode, std::uint8_t first, std::uint8_t last) {
    return opcode >= first && opcode <= last;
}

/// What the prefixes add to the numbers of registers: REX, VEX, EVEX or XOP.
struct Extensions {
    bool has_rex = false;
    std::uint8_t field = 0, index = 0, base = 0;  ///< 0 or 8
    std::uint8_t third = 0;                       ///< the register that VEX names
};

constexpr bool is_legacy_prefix(std::uint8_t byte) {
    return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
           byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 ||
           byte == 0x65;
}

Extensions extensions_of(const Instruction& instruction, std::span<const std::uint8_t> code) {
    std::size_t at = 0;
    while (is_legacy_prefix(code[at]))
        ++at;
    const std::uint8_t first = code[at];
    const auto bit = [](std::uint8_t byte, unsigned number) {
        return static_cast<std::uint8_t>((byte >> number & 1U) << 3U);
    };
    if (!instruction.vector_encoding) {
        if ((first & 0xf0U) != 0x40)
            return {};
        return {true, bit(first, 2), bit(first, 1), bit(first, 0), 0};
    }
    const auto inverted = static_cast<std::uint8_t>(~code[at + 1]);
    const std::uint8_t last = first == 0xc5 ? code[at + 1] : code[at + 2];
    const auto third = static_cast<std::uint8_t>(~last >> 3U & 15U);
    if (first == 0xc5)
        return {true, bit(inverted, 7), 0, 0, third};
    return {true, bit(inverted, 7), bit(inverted, 6), bit(inverted, 5), third};
}

RegisterOperands operands_of(const Instruction& instruction, std::span<const std::uint8_t> code,
                             const Extensions& extensions) {
    constexpr unsigned has_second_byte = 4, no_base = 5, no_index = 4;
    const unsigned mode = instruction.modrm >> 6U, other = instruction.modrm & 7U;
    const auto with = [](unsigned number, unsigned extension) {
        return static_cast<std::uint8_t>(number + extension);
    };
    RegisterOperands found{with(extension_of(instruction), extensions.field), {}, {}, {}};
    if (mode == 3) {
        found.operand = with(other, extensions.base);
    } else if (!instruction.memory_operand || instruction.field != Field::none) {
        return found;
    } else if (other != has_second_byte) {
        found.base = with(other, extensions.base);
    } else {
        const std::uint8_t second = code[instruction.displacement_offset - 1U];
        const std::uint8_t index = with(second >> 3U & 7U, extensions.index);
        if (mode != 0 || (second & 7U) != no_base)
            found.base = with(second & 7U, extensions.base);
        if (index != no_index)
            found.index = index;
    }
    return found;
}

class Effects {
  public:
    Effects(const Instruction& instruction, std::span<const std::uint8_t> code)
        : instruction_(instruction),
          extensions_(extensions_of(instruction, code)),
          operands_(operands_of(instruction, code, extensions_)) {}

    RegisterEffects found() {
        if (instruction_.vector_encoding)
            vector();
        else if (instruction_.map == one_byte)
            of_one_byte(instruction_.opcode);
        else if (instruction_.map == map_0f)
            of_0f(instruction_.opcode);
        else
            of_field_or_vector();
        return effects_;
    }

  private:
    static Set of(unsigned number) { return static_cast<Set>(1U << number); }

    void reads(Set set) { effects_.reads |= set; }
    void writes(Set set) {
        effects_.writes |= set;
        effects_.may_write |= set;
    }
    void unknown() { effects_ = {0, all, 0}; }

    bool has_register() const { return operands_.operand.has_value(); }
    /// Of a byte, where the numbers 4 to 7 are the second bytes of the first four registers.
    Set byte_register(unsigned number) const {
        return of(!extensions_.has_rex && number >= 4 && number < 8 ? number - 4 : number);
    }
    Set field(bool of_byte = false) const {
        return of_byte ? byte_register(operands_.field) : of(operands_.field);
    }
    /// The operand that may be in memory, where it is a register.
    Set operand(bool of_byte = false) const {
        if (!operands_.operand)
            return 0;
        return of_byte ? byte_register(*operands_.operand) : of(*operands_.operand);
    }

    /// The registers of the address of an operand in memory.
    Set address(bool has_vector_index = false) const {
        unsigned found = operands_.base ? of(*operands_.base) : 0U;
        if (operands_.index && !has_vector_index)
            found |= of(*operands_.index);
        return static_cast<Set>(found);
    }

    /// It works with its operand and maybe the field, and writes one of them or nothing.
    void operates(Set with, Set into) {
        reads(static_cast<Set>(with | address()));
        writes(into);
    }

    void arithmetic(std::uint8_t opcode) {
        const unsigned form = opcode & 7U, kind = opcode >> 3U;
        constexpr unsigned compare = 7, exclusive_or = 6, subtract = 5, with_borrow = 3;
        const bool of_byte = (form & 1U) == 0, into_field = form == 2 || form == 3;
        if (form >= 6)
            return unknown();
        if (form >= 4)
            return operates(rax, kind == compare ? Set{0} : rax);
        const Set one = operand(of_byte), other = field(of_byte);
        const bool is_nothing = has_register() && one == other &&
                                (kind == exclusive_or || kind == subtract || kind == with_borrow);
        const Set into = into_field ? other : one;
        operates(is_nothing ? Set{0} : static_cast<Set>(one | other),
                 kind == compare ? Set{0} : into);
    }

    void of_one_byte(std::uint8_t opcode) {
        const unsigned extension = extension_of(instruction_);
        const bool of_byte = (opcode & 1U) == 0;
        const bool repeats = instruction_.prefix != 0;
        const auto low = static_cast<std::uint8_t>((opcode & 7U) + extensions_.base);
        if (opcode < 0x40)
            return arithmetic(opcode);
        if (is_between(opcode, 0x50, 0x57) || is_between(opcode, 0x70, 0x7f))
            return;
        if (is_between(opcode, 0x58, 0x5f) || is_between(opcode, 0xb8, 0xbf))
            return writes(of(low));
        if (is_between(opcode, 0xb0, 0xb7))
            return writes(byte_register(low));
        if (is_between(opcode, 0xd8, 0xdf)) {
            reads(address());
            return writes(opcode == 0xdf && has_register() ? rax : Set{0});
        }
        switch (opcode) {
            case 0x63:
            case 0x69:
            case 0x6b:
                return operates(operand(), field());
            case 0x80:
            case 0x81:
            case 0x83: {
                constexpr unsigned compare = 7;
                return operates(operand(of_byte), extension == compare ? Set{0} : operand(of_byte));
            }
            case 0x84:
            case 0x85:
                return operates(static_cast<Set>(operand(of_byte) | field(of_byte)), 0);
            case 0x86:
            case 0x87: {
                const auto both = static_cast<Set>(operand(of_byte) | field(of_byte));
                return operates(both, both);
            }
            case 0x88:
            case 0x89:
                return operates(has_register() ? field(of_byte) : Set{0}, operand(of_byte));
            case 0x8a:
            case 0x8b:
                return operates(operand(of_byte), field(of_byte));
            case 0x8d:
                return operates(0, field());
            case 0x8f:
            case 0xc6:
            case 0xc7:
                return operates(0, operand(opcode == 0xc6));
            case 0x90:
            case 0x9b:
                return extensions_.base == 0 ? void() : unknown();
            case 0x91:
            case 0x92:
            case 0x93:
            case 0x94:
            case 0x95:
            case 0x96:
            case 0x97:
                return operates(static_cast<Set>(rax | of(low)), static_cast<Set>(rax | of(low)));
            case 0x98:
                return operates(rax, rax);
            case 0x99:
                return operates(rax, rdx);
            case 0xa4:
            case 0xa5:
            case 0xa6:
            case 0xa7:
                return strings(rsi | rdi, rsi | rdi, repeats);
            case 0xa8:
            case 0xa9:
                return reads(rax);
            case 0xaa:
            case 0xab:
                return strings(rax | rdi, rdi, repeats);
            case 0xac:
            case 0xad:
                return strings(rsi, rax | rsi, repeats);
            case 0xae:
            case 0xaf:
                return strings(rax | rdi, rdi, repeats);
            case 0xc0:
            case 0xc1:
            case 0xd0:
            case 0xd1:
                return operates(operand(of_byte), operand(of_byte));
            case 0xd2:
            case 0xd3:
                return operates(static_cast<Set>(operand(of_byte) | rcx), operand(of_byte));
            case 0x68:
            case 0x6a:
            case 0xc2:
            case 0xc3:
            case 0xcc:
            case 0xe8:
            case 0xe9:
            case 0xeb:
            case 0xf4:
                return;
            case 0xc9:
                return writes(rbp);
            case 0xf6:
            case 0xf7:
                return unary(extension, of_byte);
            case 0xfe:
            case 0xff:
                return group_five(extension, of_byte);
            default:
                return unknown();
        }
    }

    void strings(Set with, Set into, bool repeats) {
        const Set count = repeats ? rcx : Set{0};
        operates(static_cast<Set>(with | count), static_cast<Set>(into | count));
    }

    void unary(unsigned extension, bool of_byte) {
        constexpr unsigned negate = 3, divide = 6;
        if (extension < 2)
            return operates(operand(of_byte), 0);
        if (extension <= negate)
            return operates(operand(of_byte), operand(of_byte));
        const Set high = !of_byte && extension >= divide ? rdx : Set{0};
        operates(static_cast<Set>(operand(of_byte) | rax | high),
                 of_byte ? rax : static_cast<Set>(rax | rdx));
    }

    void group_five(unsigned extension, bool of_byte) {
        constexpr unsigned call = 2, jump = 4, push = 6;
        if (extension < 2)
            return operates(operand(of_byte), operand(of_byte));
        if (extension == call || extension == jump)
            return operates(operand(), 0);
        if (extension == push)
            return operates(0, 0);
        unknown();
    }

    void of_0f(std::uint8_t opcode) {
        const unsigned extension = extension_of(instruction_);
        if (is_between(opcode, 0x18, 0x1f) || is_between(opcode, 0x80, 0x8f) || opcode == 0x0b ||
            opcode == 0x77)
            return;
        if (is_between(opcode, 0x40, 0x4f))
            return operates(static_cast<Set>(operand() | field()), field());
        if (is_between(opcode, 0x90, 0x9f))
            return operates(0, operand(true));
        if (is_between(opcode, 0xc8, 0xcf)) {
            const Set swapped = of((opcode & 7U) + extensions_.base);
            return operates(swapped, swapped);
        }
        switch (opcode) {
            case 0xa3:
                return operates(static_cast<Set>(operand() | field()), 0);
            case 0xab:
            case 0xb3:
            case 0xbb:
            case 0xa4:
            case 0xac:
                return operates(static_cast<Set>(operand() | field()), operand());
            case 0xa5:
            case 0xad:
                return operates(static_cast<Set>(operand() | field() | rcx), operand());
            case 0xaf:
                return operates(static_cast<Set>(operand() | field()), field());
            case 0xb0:
            case 0xb1: {
                const bool of_byte = opcode == 0xb0;
                return operates(static_cast<Set>(operand(of_byte) | field(of_byte) | rax),
                                static_cast<Set>(operand(of_byte) | rax));
            }
            case 0xb6:
            case 0xbe:
                return operates(operand(true), field());
            case 0xb7:
            case 0xb8:
            case 0xbc:
            case 0xbd:
            case 0xbf:
                return operates(operand(), field());
            case 0xba: {
                constexpr unsigned test = 4;
                return operates(operand(), extension == test ? Set{0} : operand());
            }
            case 0xc0:
            case 0xc1: {
                const auto both = static_cast<Set>(operand(opcode == 0xc0) | field(opcode == 0xc0));
                return operates(both, both);
            }
            case 0xc3:
                return operates(field(), 0);
            case 0x00:
            case 0x01:
            case 0x05:
            case 0x34:
            case 0xa2:
            case 0xae:
            case 0xc7:
                return unknown();
            default:
                return is_between(opcode, 0x30, 0x35) ? unknown() : of_field_or_vector();
        }
    }

    /// Registers that may be vector registers may be written; the address alone is surely read.
    void of_field_or_vector() {
        reads(address());
        effects_.may_write |= static_cast<Set>(field() | operand() | of_comparison());
    }

    /// Comparisons of texts write where they found something.
    Set of_comparison() const { return instruction_.map == map_0f3a ? rcx : Set{0}; }

    void vector() {
        constexpr std::uint8_t first_gather = 0x90, last_scatter = 0xa3;
        const bool has_vector_index = instruction_.map == map_0f38 &&
                                      is_between(instruction_.opcode, first_gather, last_scatter);
        reads(address(has_vector_index));
        effects_.may_write |= static_cast<Set>(field() | operand() | of(extensions_.third));
        effects_.may_write |= of_comparison();
    }

    const Instruction& instruction_;
    Extensions extensions_;
    RegisterOperands operands_;
    RegisterEffects effects_;
};

}  // namespace

RegisterOperands register_operands(const Instruction& instruction,
                                   std::span<const std::uint8_t> code) {
    return operands_of(instruction, code, extensions_of(instruction, code));
}

RegisterEffects register_effects(const Instruction& instruction,
                                 std::span<const std::uint8_t> code) {
    return Effects(instruction, code).found();
}

}  // namespace steelyard
