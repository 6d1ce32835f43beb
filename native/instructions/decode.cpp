#include "decode.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

namespace steelyard {

namespace {

constexpr std::size_t longest_instruction_bytes = 15;

/// What follows an opcode.
struct Operands {
    bool valid = true;
    bool modrm = false;
    std::uint8_t immediate_bytes = 0;
    Field branch = Field::none;  ///< the immediate is relative to the next instruction
};

struct Prefixes {
    bool operand_size = false;
    bool address_size = false;
    bool repeat_not_equal = false;
    bool repeat = false;
    bool wide = false;  ///< REX.W

    std::uint8_t mandatory() const {
        return repeat_not_equal ? 0xf2 : (repeat ? 0xf3 : (operand_size ? 0x66 : 0));
    }
};

/// Reads bytes and remembers when there were none left.
class Reader {
  public:
    explicit Reader(std::span<const std::uint8_t> code)
        : code_(code.first(std::min(code.size(), longest_instruction_bytes))) {}

    std::uint8_t peek() const { return place_ < code_.size() ? code_[place_] : 0; }
    /// The byte behind the next one.
    std::uint8_t peek_behind() const { return place_ + 1 < code_.size() ? code_[place_ + 1] : 0; }
    std::uint8_t next() {
        const std::uint8_t byte = peek();
        skip(1);
        return byte;
    }
    void skip(std::size_t count) {
        place_ += count;
        if (place_ > code_.size())
            exhausted_ = true;
    }
    std::uint8_t place() const { return static_cast<std::uint8_t>(place_); }
    bool exhausted() const { return exhausted_; }

  private:
    std::span<const std::uint8_t> code_;
    std::size_t place_ = 0;
    bool exhausted_ = false;
};

constexpr bool is_one_of(std::uint8_t opcode, std::string_view opcodes) {
    return opcodes.find(static_cast<char>(opcode)) != std::string_view::npos;
}

/// What a function gives for each opcode, worked out when this is compiled.
template <typename Of>
constexpr auto for_each_opcode(Of of) {
    std::array<decltype(of(std::uint8_t{0})), 256> found{};
    for (std::size_t opcode = 0; opcode < found.size(); ++opcode)
        found.at(opcode) = of(static_cast<std::uint8_t>(opcode));
    return found;
}

using namespace std::string_view_literals;

constexpr Operands arithmetic(std::uint8_t opcode, std::uint8_t immediate_z) {
    switch (opcode & 7U) {
        case 4:
            return {.immediate_bytes = 1};
        case 5:
            return {.immediate_bytes = immediate_z};
        case 6:
        case 7:
            return {.valid = false};
        default:
            return {.modrm = true};
    }
}

/// F6 and F7: `test` has an immediate, the other operations of the group have none.
constexpr Operands unary_group(std::uint8_t modrm, std::uint8_t immediate_bytes) {
    const bool is_test = (modrm & 0x38U) < 0x10U;
    return {.modrm = true, .immediate_bytes = is_test ? immediate_bytes : std::uint8_t{0}};
}

constexpr Operands moves_and_shifts(std::uint8_t opcode, const Prefixes& prefixes,
                                    std::uint8_t modrm, std::uint8_t immediate_z) {
    if (opcode >= 0xb0 && opcode <= 0xb7)
        return {.immediate_bytes = 1};
    if (opcode >= 0xb8 && opcode <= 0xbf)
        return {.immediate_bytes = prefixes.wide ? std::uint8_t{8} : immediate_z};
    if (opcode >= 0xa0 && opcode <= 0xa3)
        return {.immediate_bytes = prefixes.address_size ? std::uint8_t{4} : std::uint8_t{8}};
    if (opcode == 0xc7 && modrm == 0xf8)
        return {.modrm = true, .immediate_bytes = 4, .branch = Field::jump};
    if (is_one_of(opcode, "\xc0\xc1\xc6"sv))
        return {.modrm = true, .immediate_bytes = 1};
    if (opcode == 0xc7)
        return {.modrm = true, .immediate_bytes = immediate_z};
    if (opcode == 0xc2 || opcode == 0xca)
        return {.immediate_bytes = 2};
    if (opcode == 0xc8)
        return {.immediate_bytes = 3};
    if (opcode == 0xa8 || opcode == 0xcd)
        return {.immediate_bytes = 1};
    if (opcode == 0xa9)
        return {.immediate_bytes = immediate_z};
    if (is_one_of(opcode, "\x9a\xce\xd4\xd5\xd6"sv))
        return {.valid = false};
    const bool shift_or_float =
        (opcode >= 0xd0 && opcode <= 0xd3) || (opcode >= 0xd8 && opcode <= 0xdf);
    return {.modrm = shift_or_float};
}

constexpr Operands one_byte_operands(std::uint8_t opcode, const Prefixes& prefixes,
                                     std::uint8_t modrm) {
    const std::uint8_t immediate_z = prefixes.operand_size && !prefixes.wide ? 2 : 4;
    if (opcode < 0x40)
        return arithmetic(opcode, immediate_z);
    if (opcode < 0x60)
        return {};
    if (opcode >= 0x70 && opcode <= 0x7f)
        return {.immediate_bytes = 1, .branch = Field::jump};
    if ((opcode >= 0xe0 && opcode <= 0xe3) || opcode == 0xeb)
        return {.immediate_bytes = 1, .branch = Field::jump};
    if (opcode == 0xe8 || opcode == 0xe9)
        return {.immediate_bytes = 4, .branch = opcode == 0xe8 ? Field::call : Field::jump};
    if (is_one_of(opcode, "\x60\x61\x82\xea"sv))
        return {.valid = false};
    if (opcode == 0x68)
        return {.immediate_bytes = immediate_z};
    if (opcode == 0x69 || opcode == 0x81)
        return {.modrm = true, .immediate_bytes = immediate_z};
    if (opcode == 0x6b || opcode == 0x80 || opcode == 0x83)
        return {.modrm = true, .immediate_bytes = 1};
    if (opcode == 0x6a || (opcode >= 0xe4 && opcode <= 0xe7))
        return {.immediate_bytes = 1};
    if (opcode == 0x63 || (opcode >= 0x84 && opcode <= 0x8f) || opcode >= 0xfe)
        return {.modrm = true};
    if (opcode == 0xf6 || opcode == 0xf7)
        return unary_group(modrm, opcode == 0xf6 ? std::uint8_t{1} : immediate_z);
    if (opcode < 0x70 || opcode >= 0xec)
        return {};
    return moves_and_shifts(opcode, prefixes, modrm, immediate_z);
}

constexpr bool has_immediate_in_0f(std::uint8_t opcode) {
    return is_one_of(opcode, "\x70\x71\x72\x73\xa4\xac\xba\xc2\xc4\xc5\xc6\x0f"sv);
}

constexpr Operands map_0f_operands(std::uint8_t opcode, const Prefixes& prefixes) {
    if (opcode >= 0x80 && opcode <= 0x8f)
        return {.immediate_bytes = 4, .branch = Field::jump};
    if (is_one_of(opcode, "\x04\x0a\x0c\x24\x25\x26\x27\x36\x39\x3b\x3c\x3d\x3e\x3f\xa6\xa7"sv))
        return {.valid = false};
    if (opcode >= 0xc8 && opcode <= 0xcf)
        return {};
    if (is_one_of(opcode, "\x05\x06\x07\x08\x09\x0b\x0e\x30\x31\x32\x33\x34\x35\x37\x77"sv))
        return {};
    if (is_one_of(opcode, "\xa0\xa1\xa2\xa8\xa9\xaa"sv))
        return {};
    if (opcode == 0x78 && (prefixes.operand_size || prefixes.repeat_not_equal))
        return {.modrm = true, .immediate_bytes = 2};
    const std::uint8_t immediate_bytes = has_immediate_in_0f(opcode) ? 1 : 0;
    return {.modrm = true, .immediate_bytes = immediate_bytes};
}

/// By the prefixes that count: operand size, REX.W, address size.
constexpr auto one_byte_tables = [] {
    std::array<std::array<Operands, 256>, 8> tables{};
    for (std::size_t at = 0; at < tables.size(); ++at) {
        const Prefixes prefixes{
            .operand_size = (at & 1U) != 0, .address_size = (at & 4U) != 0, .wide = (at & 2U) != 0};
        tables.at(at) = for_each_opcode(
            [&](std::uint8_t opcode) { return one_byte_operands(opcode, prefixes, 0); });
    }
    return tables;
}();

constexpr auto map_0f_table =
    for_each_opcode([](std::uint8_t opcode) { return map_0f_operands(opcode, {}); });

/// The operands of an opcode of one byte; of three the next byte says more.
Operands operands_of(std::uint8_t opcode, const Prefixes& prefixes, std::uint8_t modrm) {
    if (opcode == 0xc7 || opcode == 0xf6 || opcode == 0xf7)
        return one_byte_operands(opcode, prefixes, modrm);
    const std::size_t variant = (prefixes.operand_size ? 1U : 0U) | (prefixes.wide ? 2U : 0U) |
                                (prefixes.address_size ? 4U : 0U);
    return one_byte_tables[variant][opcode];
}

constexpr auto is_legacy_prefix = for_each_opcode([](std::uint8_t opcode) {
    return is_one_of(opcode, "\x66\x67\xf0\xf2\xf3\x2e\x36\x3e\x26\x64\x65"sv);
});

/// VEX and EVEX share the maps with SSE, but there is no branch among them.
Operands vector_operands(unsigned map, std::uint8_t opcode, bool evex) {
    if (map == map_0f && opcode == 0x77 && !evex)
        return {};
    if (map == map_0f)
        return {.modrm = true,
                .immediate_bytes = static_cast<std::uint8_t>(
                    is_one_of(opcode, "\x70\x71\x72\x73\xc2\xc4\xc5\xc6"sv))};
    if (map == map_0f38 || (evex && (map == 5 || map == 6)))
        return {.modrm = true};
    if (map == map_0f3a)
        return {.modrm = true, .immediate_bytes = 1};
    return {.valid = false};
}

Operands xop_operands(unsigned map) {
    if (map == 8)
        return {.modrm = true, .immediate_bytes = 1};
    if (map == 9)
        return {.modrm = true};
    return {.valid = map == 10, .modrm = true, .immediate_bytes = 4};
}

struct Opcode {
    Operands operands;
    bool is_lea = false;
    std::uint8_t map = one_byte;
    std::uint8_t opcode = 0;
    std::uint8_t prefix = 0;
    bool is_vector = false;
    std::uint8_t vector_bytes = 16;
};

constexpr std::uint8_t vector_prefixes[] = {0, 0x66, 0xf3, 0xf2};

Opcode read_legacy(Reader& reader, const Prefixes& prefixes) {
    const std::uint8_t opcode = reader.next();
    const std::uint8_t prefix = prefixes.mandatory();
    if (opcode != 0x0f) {
        const Operands operands = operands_of(opcode, prefixes, reader.peek());
        return {operands, opcode == 0x8d, one_byte, opcode, prefix};
    }
    const std::uint8_t second = reader.next();
    if (second == 0x38 || second == 0x3a) {
        const bool has_immediate = second == 0x3a;
        const std::uint8_t third = reader.next();
        const std::uint8_t map = has_immediate ? map_0f3a : map_0f38;
        const auto immediate_bytes = static_cast<std::uint8_t>(has_immediate);
        return {{.modrm = true, .immediate_bytes = immediate_bytes}, false, map, third, prefix};
    }
    const Operands operands =
        second == 0x78 ? map_0f_operands(second, prefixes) : map_0f_table[second];
    return {operands, false, map_0f, second, prefix};
}

Opcode read_opcode(Reader& reader, const Prefixes& prefixes, bool rex) {
    const std::uint8_t first = reader.peek();
    const bool is_vector = first == 0xc4 || first == 0xc5 || first == 0x62;
    const bool is_xop = first == 0x8f && (reader.peek_behind() & 0x1fU) >= 8;
    if (!is_vector && !is_xop)
        return read_legacy(reader, prefixes);
    if (rex)
        return {{.valid = false}};
    reader.next();
    unsigned map = map_0f;
    const std::uint8_t payload = reader.next();
    if (first != 0xc5)
        map = payload & (first == 0x62 ? 0x7U : 0x1fU);
    const std::uint8_t last = first == 0xc5 ? payload : reader.next();
    unsigned length = (last >> 2U) & 1U;
    if (first == 0x62)
        length = (reader.next() >> 5U) & 3U;
    const std::uint8_t opcode = reader.next();
    const Operands operands =
        is_xop ? xop_operands(map) : vector_operands(map, opcode, first == 0x62);
    const auto vector_bytes = static_cast<std::uint8_t>(16U << std::min(length, 2U));
    return {
        operands, false,       static_cast<std::uint8_t>(map), opcode, vector_prefixes[last & 3U],
        true,     vector_bytes};
}

/// Skips ModRM, SIB and displacement; whether the operand is relative to the next instruction.
bool skip_memory_operand(Reader& reader, Instruction& found) {
    const std::uint8_t modrm = reader.next();
    found.modrm = modrm;
    const unsigned mode = modrm >> 6U;
    const unsigned base = modrm & 7U;
    if (mode == 3)
        return false;
    found.memory_operand = true;
    if (mode == 0 && base == 5) {
        reader.skip(4);
        return true;
    }
    const bool no_base = base == 4 && (reader.next() & 7U) == 5;
    found.displacement_offset = reader.place();
    if (mode == 1)
        found.displacement_bytes = 1;
    else if (mode == 2 || (mode == 0 && no_base))
        found.displacement_bytes = 4;
    reader.skip(found.displacement_bytes);
    return false;
}

/// Reads the legacy prefixes and REX; whether there was a REX.
bool read_prefixes(Reader& reader, Prefixes& prefixes) {
    while (is_legacy_prefix[reader.peek()] && !reader.exhausted()) {
        const std::uint8_t prefix = reader.next();
        prefixes.operand_size |= prefix == 0x66;
        prefixes.address_size |= prefix == 0x67;
        prefixes.repeat_not_equal |= prefix == 0xf2;
        prefixes.repeat |= prefix == 0xf3;
    }
    if ((reader.peek() & 0xf0U) != 0x40)
        return false;
    prefixes.wide = (reader.next() & 8U) != 0;
    return true;
}

}  // namespace

std::optional<Instruction> decode(std::span<const std::uint8_t> code) {
    Reader reader(code);
    Prefixes prefixes;
    const bool rex = read_prefixes(reader, prefixes);
    const Opcode opcode = read_opcode(reader, prefixes, rex);
    const Operands& operands = opcode.operands;
    if (!operands.valid)
        return std::nullopt;
    Instruction found;
    found.wide = prefixes.wide;
    found.map = opcode.map;
    found.opcode = opcode.opcode;
    found.prefix = opcode.prefix;
    found.vector_encoding = opcode.is_vector;
    found.vector_bytes = opcode.vector_bytes;
    if (operands.modrm && skip_memory_operand(reader, found)) {
        if (prefixes.address_size || reader.exhausted())
            return std::nullopt;
        found.field = opcode.is_lea ? Field::address : Field::memory;
        found.field_offset = static_cast<std::uint8_t>(reader.place() - 4);
        found.field_bytes = 4;
    }
    if (operands.branch != Field::none) {
        found.field = operands.branch;
        found.field_offset = reader.place();
        found.field_bytes = operands.immediate_bytes;
    } else {
        found.immediate_offset = reader.place();
        found.immediate_bytes = operands.immediate_bytes;
    }
    reader.skip(operands.immediate_bytes);
    if (reader.exhausted())
        return std::nullopt;
    found.length = reader.place();
    return found;
}

std::int64_t field_distance(const Instruction& instruction, std::span<const std::uint8_t> code) {
    if (instruction.field == Field::none)
        return 0;
    const auto field = code.subspan(instruction.field_offset, instruction.field_bytes);
    if (field.size() == 1)
        return std::bit_cast<std::int8_t>(field[0]);
    std::array<std::uint8_t, sizeof(std::int32_t)> word{};
    std::ranges::copy(field, word.begin());
    return std::bit_cast<std::int32_t>(word);
}

}  // namespace steelyard
