#include "sled.hpp"

#include <algorithm>
#include <array>

namespace steelyard {

namespace {

constexpr std::array<std::uint8_t, 4> end_branch{0xf3, 0x0f, 0x1e, 0xfa};

/// The length of the no-operation that `code` begins with; 0 for anything else. Intel's manual,
/// volume 2B, NOP: 90, or 0F 1F with any addressing, both with prefixes 66 and 2E.
std::size_t no_operation_length(std::span<const std::uint8_t> code) {
    std::size_t at = 0;
    while (at < code.size() && (code[at] == 0x66 || code[at] == 0x2e))
        ++at;
    if (at < code.size() && code[at] == 0x90)
        return at + 1;
    if (at + 2 >= code.size() || code[at] != 0x0f || code[at + 1] != 0x1f)
        return 0;
    const std::uint8_t form = code[at + 2];
    const unsigned mode = form >> 6U;
    const bool has_index = mode != 3 && (form & 7U) == 4;
    std::size_t length = at + 3 + (has_index ? 1 : 0);
    if (mode == 1)
        length += 1;
    if (mode == 2)
        length += 4;
    return length <= code.size() ? length : 0;
}

/// The byte of `word` at `place`, the lowest first.
std::uint8_t byte(std::uint32_t word, unsigned place) {
    return static_cast<std::uint8_t>(word >> (8 * place));
}

}  // namespace

std::optional<std::size_t> sled_offset(std::span<const std::uint8_t> entry, std::size_t wanted) {
    std::size_t begin = 0;
    if (entry.size() >= end_branch.size() && std::ranges::equal(entry.first<4>(), end_branch))
        begin = end_branch.size();
    std::size_t end = begin;
    while (end < begin + wanted) {
        const std::size_t length = no_operation_length(entry.subspan(end));
        if (length == 0)
            return std::nullopt;
        end += length;
    }
    return begin;
}

// clang-format off
std::vector<std::uint8_t> string_delay(std::uint32_t turns, std::uint32_t buffer) {
    const std::uint32_t rounds = (turns - 1) / delay_buffer_bytes + 1;
    const std::uint32_t bytes = turns / rounds + (turns % rounds * 2ULL >= rounds ? 1 : 0);
    return {
        0x50, 0x51, 0x56,  // push %rax, %rcx, %rsi
        0x41, 0xbb, byte(rounds, 0), byte(rounds, 1), byte(rounds, 2), byte(rounds, 3),  // mov $rounds,%r11d
        0xbe, byte(buffer, 0), byte(buffer, 1), byte(buffer, 2), byte(buffer, 3),  // 1: mov $buffer,%esi
        0xb9, byte(bytes, 0), byte(bytes, 1), byte(bytes, 2), byte(bytes, 3),      // mov $bytes,%ecx
        0xf3, 0xac,        // rep lodsb
        0x41, 0xff, 0xcb,  // dec %r11d
        0x75, 0xef,        // jnz 1b
        0x5e, 0x59, 0x58,  // pop %rsi, %rcx, %rax
    };
}

std::vector<std::uint8_t> loop_delay(std::uint32_t turns) {
    return {
        0x41, 0xbb, byte(turns, 0), byte(turns, 1), byte(turns, 2), byte(turns, 3),  // mov $turns,%r11d
        0x41, 0xff, 0xcb,  // 1: dec %r11d
        0x75, 0xfb,        // jnz 1b
    };
}

std::vector<std::uint8_t> memory_delay(std::uint32_t turns, std::uint32_t cursor) {
    return {
        0x51,  // push %rcx
        0xb9, byte(turns, 0), byte(turns, 1), byte(turns, 2), byte(turns, 3),  // mov $turns,%ecx
        // mov cursor,%r11d
        0x44, 0x8b, 0x1c, 0x25, byte(cursor, 0), byte(cursor, 1), byte(cursor, 2), byte(cursor, 3),
        0x45, 0x8b, 0x1b,  // 1: mov (%r11),%r11d
        0xff, 0xc9,        // dec %ecx
        0x75, 0xf9,        // jnz 1b
        // mov %r11d,cursor
        0x44, 0x89, 0x1c, 0x25, byte(cursor, 0), byte(cursor, 1), byte(cursor, 2), byte(cursor, 3),
        0x59,  // pop %rcx
    };
}
// clang-format on

}  // namespace steelyard
