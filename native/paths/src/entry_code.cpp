#include "entry_code.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "decode.hpp"

namespace steelyard {

namespace {

constexpr std::array<std::uint8_t, 4> end_branch{0xf3, 0x0f, 0x1e, 0xfa};
constexpr std::uint8_t jump_short = 0xeb, jump_near = 0xe9, conditional_near = 0x80, escape = 0x0f;
constexpr std::uint8_t loops = 0xe0, loops_end = 0xe4;

class MovedCode {
  public:
    explicit MovedCode(PlannedFunction& function) : function_(function) {}

    /// Whether the instruction can stand elsewhere, and there is room for it.
    bool append(const Instruction& instruction, std::span<const std::uint8_t> bytes,
                std::uint64_t address) {
        const std::uint64_t target = address + instruction.length +
                                     static_cast<std::uint64_t>(field_distance(instruction, bytes));
        if (is_call(instruction))
            return append_call(instruction, bytes, address + instruction.length, target);
        switch (instruction.field) {
            case Field::none:
                return put(bytes.first(instruction.length));
            case Field::call:
                return false;
            case Field::jump:
                return append_jump(instruction, bytes, target);
            case Field::address:
            case Field::memory:
                return put(bytes.first(instruction.length)) &&
                       fix(instruction.field_offset, instruction.length, target);
        }
        return false;
    }

    /// By its distance, or FF /2.
    static bool is_call(const Instruction& instruction) {
        return instruction.field == Field::call ||
               (instruction.map == one_byte && instruction.opcode == 0xff &&
                (instruction.modrm >> 3U & 7U) == 2);
    }

  private:
    /// Pushes the address that the call would return to and jumps: no unwinder meets moved code.
    bool append_call(const Instruction& instruction, std::span<const std::uint8_t> bytes,
                     std::uint64_t next, std::uint64_t target) {
        constexpr std::array<std::uint8_t, 5> push_low{0x68};
        constexpr std::array<std::uint8_t, 8> move_high{0xc7, 0x44, 0x24, 0x04};
        constexpr std::array<std::uint8_t, 5> jump{jump_near};
        // FF /2 is a call, FF /4 a jump.
        constexpr std::uint8_t call_or_jump = (2U << 3U) ^ (4U << 3U), register_operand = 0xc0;
        const bool is_direct = instruction.field == Field::call;
        const bool is_movable = is_direct || instruction.field == Field::memory ||
                                (instruction.modrm & register_operand) == register_operand;
        if (!is_movable || !put(push_low) ||
            !fix(1, sizeof push_low, next, Fixup::Kind::low_half) || !put(move_high) ||
            !fix(4, sizeof move_high, next, Fixup::Kind::high_half))
            return false;
        if (is_direct)
            return put(jump) && fix(1, sizeof jump, target);
        if (!put(bytes.first(instruction.length)))
            return false;
        const std::size_t modrm = instruction.field == Field::memory ? instruction.field_offset - 1U
                                                                     : instruction.length - 1U;
        function_.moved[begin_ + modrm] ^= call_or_jump;
        return instruction.field != Field::memory ||
               fix(instruction.field_offset, instruction.length, target);
    }

    bool append_jump(const Instruction& instruction, std::span<const std::uint8_t> bytes,
                     std::uint64_t target) {
        if (instruction.field_bytes != 1)
            return put(bytes.first(instruction.length)) &&
                   fix(instruction.field_offset, instruction.length, target);
        const std::uint8_t opcode = instruction.opcode;
        if (opcode == jump_short) {
            constexpr std::array<std::uint8_t, 5> jump{jump_near};
            return put(jump) && fix(1, sizeof jump, target);
        }
        if (opcode >= loops && opcode < loops_end)
            return false;
        const std::array<std::uint8_t, 6> jump{
            escape, static_cast<std::uint8_t>(conditional_near | (opcode & 0x0fU))};
        return put(jump) && fix(2, sizeof jump, target);
    }

    bool put(std::span<const std::uint8_t> bytes) {
        if (function_.moved_bytes + bytes.size() > most_moved_bytes)
            return false;
        begin_ = function_.moved_bytes;
        std::ranges::copy(bytes, function_.moved.begin() + begin_);
        function_.moved_bytes += static_cast<std::uint32_t>(bytes.size());
        return true;
    }

    bool fix(std::size_t field, std::size_t end, std::uint64_t target,
             Fixup::Kind kind = Fixup::Kind::distance) {
        if (function_.fixup_count == most_fixups)
            return false;
        function_.fixups[function_.fixup_count++] = {target,
                                                     static_cast<std::uint8_t>(begin_ + field),
                                                     static_cast<std::uint8_t>(begin_ + end),
                                                     kind,
                                                     {}};
        return true;
    }

    PlannedFunction& function_;
    std::uint32_t begin_ = 0;
};

}  // namespace

void plan_entry(PlannedFunction& function, std::span<const std::uint8_t> code,
                std::uint64_t next_start) {
    const std::uint64_t own_bytes = function.end - function.start;
    std::uint64_t at = 0;
    // Who calls through a pointer may want the mark where it is.
    if (own_bytes >= end_branch.size() && std::ranges::equal(code.first(4), end_branch))
        at = end_branch.size();
    function.place = function.start + at;
    MovedCode moved(function);
    std::uint64_t replaced = 0;
    while (replaced < jump_bytes && at + replaced < own_bytes) {
        const auto rest = code.subspan(at + replaced);
        const auto instruction = decode(rest);
        if (!instruction || !moved.append(*instruction, rest, function.place + replaced)) {
            function.unwatched = Unwatched::unreadable;
            return;
        }
        replaced += instruction->length;
        // It would return to what the jump has replaced.
        if (replaced < jump_bytes && MovedCode::is_call(*instruction)) {
            function.unwatched = Unwatched::unreadable;
            return;
        }
    }
    if (function.place + jump_bytes > next_start) {
        function.unwatched = Unwatched::too_short;
        return;
    }
    function.replaced_bytes = static_cast<std::uint32_t>(replaced);
}

}  // namespace steelyard
