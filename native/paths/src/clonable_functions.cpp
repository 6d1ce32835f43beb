#include "clonable_functions.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "decode.hpp"

namespace steelyard {

namespace {

constexpr std::int64_t word = sizeof(std::uint64_t);

/// Says why a function cannot be copied.
struct Fixed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::uint8_t mode(const Instruction& instruction) {
    return instruction.modrm >> 6U;
}

bool is_indirect_jump(const Instruction& instruction) {
    constexpr std::uint8_t group_five = 0xff, jump = 4;
    return !instruction.vector_encoding && instruction.map == one_byte &&
           instruction.opcode == group_five && (instruction.modrm >> 3U & 7U) == jump;
}

/// Nothing is executed behind it; or what is called there does not return.
bool ends_code(const Instruction& instruction) {
    if (instruction.vector_encoding)
        return false;
    const std::uint8_t opcode = instruction.opcode;
    constexpr std::uint8_t undefined = 0x0b, wide_undefined = 0xb9;
    if (instruction.map == map_0f)
        return opcode == undefined || opcode == wide_undefined;
    // ret, jmp, call, int3 and hlt.
    constexpr std::uint8_t ends[] = {0xc2, 0xc3, 0xe8, 0xe9, 0xeb, 0xcc, 0xf4};
    return instruction.map == one_byte &&
           (std::ranges::find(ends, opcode) != std::end(ends) || is_indirect_jump(instruction));
}

class Copying {
  public:
    Copying(ClonableFunction& function, CodeBytes code, CallFrames& frames)
        : function_(function), code_(code), frames_(frames) {}

    /// Throws Fixed.
    void read(const std::set<std::uint64_t>& taken) {
        for (const auto& [start, end] : function_.parts) {
            const auto inside =
                start == function_.start ? taken.upper_bound(start) : taken.lower_bound(start);
            if (inside != taken.end() && *inside < end)
                throw Fixed("an address inside of it is taken, as by a table of jumps");
        }
        for (const auto& part : function_.parts)
            read_part(part.first, part.second);
    }

  private:
    void read_part(std::uint64_t start, std::uint64_t end) {
        Instruction last{};
        for (std::uint64_t at = start; at < end;) {
            const auto rest = code_.bytes.subspan(static_cast<std::size_t>(at - code_.address));
            const auto instruction = decode(rest);
            if (!instruction)
                throw Fixed("its code cannot be read");
            const std::uint64_t next = at + instruction->length;
            if (next > end)
                throw Fixed("its last instruction is cut off");
            if (is_indirect_jump(*instruction))
                check_jump(*instruction, at, rest);
            if (instruction->field != Field::none)
                note(*instruction, at,
                     next + static_cast<std::uint64_t>(field_distance(*instruction, rest)), start,
                     end);
            last = *instruction;
            at = next;
        }
        if (!ends_code(last))
            throw Fixed("its code runs on into what lies behind it");
    }

    /// Only what leaves the function for good: through a word at a known place, or one behind an
    /// address in a register, with nothing of its own on the stack. Others may lead back to the
    /// original.
    void check_jump(const Instruction& instruction, std::uint64_t at,
                    std::span<const std::uint8_t> code) const {
        constexpr std::uint8_t unchecked = 0x3e, has_index = 4;
        const UnwindRow* const row = frames_.at(at);
        const bool is_bare = row != nullptr && row->cfa.kind == RegisterRule::Kind::in_register &&
                             row->cfa.other_register == stack_register && row->cfa.distance == word;
        const bool is_indexed = (instruction.modrm & 7U) == has_index;
        if (code[0] == unchecked || mode(instruction) == 3 || is_indexed || !is_bare)
            throw Fixed("it jumps by a table or a register");
    }

    void note(const Instruction& instruction, std::uint64_t at, std::uint64_t target,
              std::uint64_t start, std::uint64_t end) {
        const bool is_inside = target >= start && target < end;
        if (instruction.field == Field::jump && is_inside)
            return;
        if (instruction.field_bytes != sizeof(std::int32_t))
            throw Fixed("a short jump leads out of it");
        if (instruction.field == Field::call && is_inside && target != function_.start)
            throw Fixed("it calls code inside of itself");
        function_.references.push_back(
            {at + instruction.field_offset, at + instruction.length, target});
    }

    ClonableFunction& function_;
    CodeBytes code_;
    CallFrames& frames_;
};

std::string_view unwatched_reason(const PlannedFunction& function) {
    if (function.unwatched == Unwatched::none)
        return {};
    return function.unwatched == Unwatched::start ? "the program starts in it"
                                                  : "its entries cannot be watched";
}

}  // namespace

std::vector<ClonableFunction> clonable_functions(std::span<const PlannedFunction> functions,
                                                 CodeBytes code, CallFrames& frames,
                                                 const std::set<std::uint64_t>& taken) {
    std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> others;
    for (std::uint32_t index = 0; index < functions.size(); ++index) {
        auto& parts = others[functions[index].owner];
        if (functions[index].owner != index)
            parts.emplace_back(functions[index].start, functions[index].end);
    }
    std::vector<ClonableFunction> found;
    for (auto& [owner, parts] : others) {
        const PlannedFunction& whole = functions[owner];
        ClonableFunction function{
            .start = whole.start, .parts = {}, .references = {}, .reason = {}};
        function.parts.emplace_back(whole.start, whole.end);
        std::ranges::copy(parts, std::back_inserter(function.parts));
        function.reason = unwatched_reason(whole);
        try {
            if (function.reason.empty())
                Copying(function, code, frames).read(taken);
        } catch (const Fixed& why) {
            function.reason = why.what();
        }
        found.push_back(std::move(function));
    }
    return found;
}

}  // namespace steelyard
