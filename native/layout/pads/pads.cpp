#include "pads.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace steelyard::layout {

namespace {

// Callee-saved registers in the order in which LLVM pushes them behind the frame pointer.
constexpr std::array<std::string_view, 5> saved_registers{"%r15", "%r14", "%r13", "%r12", "%rbx"};
/// A line as an instruction: its mnemonic and its operands. Both are empty for anything else.
struct Line {
    std::string_view text;
    std::string_view mnemonic, operands;
    bool is_label = false;

    bool is_instruction() const { return !mnemonic.empty(); }
    bool is(std::string_view name, std::string_view arguments) const {
        return mnemonic == name && operands == arguments;
    }
};

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Line parse(std::string_view text) {
    Line line{text, {}, {}};
    std::string_view body = trimmed(text);
    if (const std::size_t comment = body.find('#'); comment != std::string_view::npos)
        body = trimmed(body.substr(0, comment));
    if (body.empty())
        return line;
    if (body.back() == ':') {
        line.is_label = true;
        return line;
    }
    if (body.front() == '.' || body.front() == '"')
        return line;
    const std::size_t end = body.find_first_of(" \t");
    line.mnemonic = body.substr(0, end);
    if (end != std::string_view::npos)
        line.operands = trimmed(body.substr(end));
    return line;
}

bool reads_flags(std::string_view mnemonic) {
    if (mnemonic.starts_with("jmp"))
        return false;
    return mnemonic.starts_with('j') || mnemonic.starts_with("set") ||
           mnemonic.starts_with("cmov") || mnemonic.starts_with("adc") ||
           mnemonic.starts_with("sbb") || mnemonic.starts_with("pushf") ||
           mnemonic.starts_with("rc") || mnemonic.starts_with("lahf");
}

bool writes_flags(std::string_view mnemonic) {
    constexpr std::array writers{"sub", "add", "cmp", "test", "and", "or",  "xor", "call",
                                 "inc", "dec", "neg", "shl",  "shr", "sar", "imul"};
    return std::ranges::any_of(writers,
                               [&](const char* name) { return mnemonic.starts_with(name); });
}

constexpr std::string_view subtract = "0x48, 0x81, 0xec";  // subq $imm32, %rsp
constexpr std::string_view add = "0x48, 0x81, 0xc4";
constexpr std::string_view add_by_address = "0x48, 0x8d, 0xa4, 0x24";  // leaq disp32(%rsp), %rsp
// With a pad more it is far below what four bytes hold.
constexpr std::uint32_t most_merged = 1U << 30U;
constexpr const char* other_shape = "an epilogue of it has another shape";

/// Counts what was put in, for labels.
struct Labels {
    std::size_t changes = 0;
};

/// The lines of one function, from its label up to its end.
class FunctionText {
  public:
    FunctionText(std::vector<Line>& lines, std::size_t first, std::size_t last)
        : lines_(lines), first_(first), last_(last) {}

    bool calls() const {
        for (std::size_t at = first_; at < last_; ++at) {
            if (lines_[at].mnemonic.starts_with("call"))
                return true;
        }
        return false;
    }

    /// Puts the pad in; the reason where that cannot be done.
    std::optional<std::string> pad(std::vector<std::string>& before, Labels& labels) {
        if (is_split())
            return "the compiler split it into sections";
        const auto frame = find_frame();
        if (!frame)
            return "it has no frame pointer";
        std::vector<std::size_t> releases;
        std::size_t epilogues = 0;
        for (std::size_t at = first_; at < last_; ++at) {
            if (!lines_[at].is("popq", "%rbp"))
                continue;
            ++epilogues;
            const auto start = first_pop(at, frame->saved);
            if (!start)
                return other_shape;
            const auto from_frame = takes_frame_pointer(*start);
            if (!from_frame)
                return other_shape;
            if (!*from_frame)
                releases.push_back(*start);
        }
        const bool mixed = !releases.empty() && releases.size() != epilogues;
        if (mixed || (epilogues == 0 && leaves()))
            return other_shape;
        if (!flags_are_dead(frame->place))
            return "its frame is set up where flags are in use";
        before[frame->place] += change(subtract, take_adjustment(own_allocation(*frame)), labels);
        for (const std::size_t start : releases) {
            const Adjustment own = own_release(start);
            const bool keeps_flags = own.line >= last_ && flags_are_used_behind(start);
            before[start] +=
                change(keeps_flags ? add_by_address : add, take_adjustment(own), labels);
        }
        return std::nullopt;
    }

  private:
    struct Frame {
        std::size_t place;  ///< of the line that the pad goes before
        int saved;          ///< registers that are pushed behind the frame pointer
    };
    /// An instruction that moves the stack pointer; `line` is `last_` where there is none.
    struct Adjustment {
        std::size_t line;
        std::uint32_t bytes;
    };

    /// Its parts have symbols, and copies, of their own: a frame would be made by the pad of one
    /// and released by that of another.
    bool is_split() const {
        return std::any_of(lines_.begin() + static_cast<std::ptrdiff_t>(first_),
                           lines_.begin() + static_cast<std::ptrdiff_t>(last_),
                           [](const Line& line) {
                               return line.text.starts_with("\t.section\t.text") ||
                                      line.text.starts_with("\t.text");
                           });
    }

    std::size_t next_instruction(std::size_t at) const {
        for (++at; at < last_; ++at) {
            if (lines_[at].is_instruction())
                break;
        }
        return at;
    }

    std::optional<Frame> find_frame() const {
        for (std::size_t at = first_; at < last_; ++at) {
            if (!lines_[at].is("pushq", "%rbp"))
                continue;
            std::size_t next = next_instruction(at);
            if (next >= last_ || !lines_[next].is("movq", "%rsp, %rbp"))
                return std::nullopt;
            int saved = 0;
            std::size_t place = next + 1;
            auto expected = saved_registers.begin();
            for (next = next_instruction(next); next < last_; next = next_instruction(next)) {
                if (lines_[next].mnemonic != "pushq")
                    break;
                const auto found =
                    std::find(expected, saved_registers.end(), lines_[next].operands);
                if (found == saved_registers.end())
                    break;
                expected = found + 1;
                place = next + 1;
                ++saved;
            }
            return Frame{place, saved};
        }
        return std::nullopt;
    }

    /// The first of the `saved` pops that end with the one at `at`.
    std::optional<std::size_t> first_pop(std::size_t at, int saved) const {
        std::size_t found = at;
        for (std::size_t back = at; saved > 0 && back > first_;) {
            --back;
            if (lines_[back].is_label)
                return std::nullopt;
            if (!lines_[back].is_instruction())
                continue;
            if (lines_[back].mnemonic != "popq" ||
                std::ranges::find(saved_registers, lines_[back].operands) == saved_registers.end())
                return std::nullopt;
            found = back;
            --saved;
        }
        return saved == 0 ? std::optional(found) : std::nullopt;
    }

    /// What the function takes for its own locals right where its pad goes.
    Adjustment own_allocation(const Frame& frame) const {
        std::size_t at = frame.place;
        while (at < last_ && !lines_[at].is_instruction() && !lines_[at].is_label)
            ++at;
        // The shortest way to take eight bytes; what is pushed there is of no use at the entry.
        if (at < last_ && lines_[at].is("pushq", "%rax") && is_at_entry(frame.place))
            return {at, 8};
        return adjustment(at, "subq");
    }

    /// What it gives back right before the pops that start at `start`.
    Adjustment own_release(std::size_t start) const {
        std::size_t at = start;
        do {
            if (at-- == first_)
                return {last_, 0};
        } while (!lines_[at].is_instruction() && !lines_[at].is_label);
        return adjustment(at, "addq");
    }

    Adjustment adjustment(std::size_t at, std::string_view mnemonic) const {
        constexpr std::string_view to_stack_pointer = ", %rsp";
        if (at >= last_ || lines_[at].mnemonic != mnemonic)
            return {last_, 0};
        std::string_view number = lines_[at].operands;
        if (!number.starts_with('$') || !number.ends_with(to_stack_pointer))
            return {last_, 0};
        number = number.substr(1, number.size() - 1 - to_stack_pointer.size());
        std::uint32_t bytes = 0;
        const auto read = std::from_chars(number.data(), number.data() + number.size(), bytes);
        const bool is_whole = read.ec == std::errc{} && read.ptr == number.data() + number.size();
        return is_whole && bytes <= most_merged ? Adjustment{at, bytes} : Adjustment{last_, 0};
    }

    /// Removes the instruction, as that which changes the pad does its work.
    std::uint32_t take_adjustment(const Adjustment& own) {
        if (own.line < last_)
            lines_[own.line] = Line{};
        return own.bytes;
    }

    bool leaves() const {
        for (std::size_t at = first_; at < last_; ++at) {
            if (lines_[at].mnemonic.starts_with("ret"))
                return true;
        }
        return false;
    }

    bool is_at_entry(std::size_t place) const {
        std::size_t instructions_before = 0;
        for (std::size_t at = first_; at < place; ++at)
            instructions_before += lines_[at].is_instruction() ? 1U : 0U;
        return instructions_before <= 2 + saved_registers.size();
    }

    /// A frame at the start of a function overwrites no flags; a shrink-wrapped one might.
    bool flags_are_dead(std::size_t place) const {
        const bool at_entry = is_at_entry(place);
        for (std::size_t at = place; at < last_; ++at) {
            if (lines_[at].is_label)
                return at_entry;
            if (reads_flags(lines_[at].mnemonic))
                return false;
            if (writes_flags(lines_[at].mnemonic))
                return true;
        }
        return at_entry;
    }

    /// Between what compares and what jumps by it, as before a conditional tail call, pops may lie.
    bool flags_are_used_behind(std::size_t place) const {
        for (std::size_t at = place; at < last_; ++at) {
            const std::string_view mnemonic = lines_[at].mnemonic;
            if (reads_flags(mnemonic))
                return true;
            if (writes_flags(mnemonic) || mnemonic.starts_with("ret") ||
                mnemonic.starts_with("jmp"))
                return false;
        }
        return false;
    }

    /// Whether the stack pointer has been taken from the frame pointer before these pops, and so
    /// needs no pad added; nothing where that cannot be seen.
    std::optional<bool> takes_frame_pointer(std::size_t start) const {
        for (std::size_t back = start; back-- > first_;) {
            const Line& line = lines_[back];
            if (line.is_label)
                return restores_from_frame() ? std::nullopt : std::optional(false);
            if (line.is_instruction())
                return is_restore(line);
        }
        return std::nullopt;
    }

    static bool is_restore(const Line& line) {
        return line.is("movq", "%rbp, %rsp") ||
               (line.mnemonic == "leaq" && line.operands.ends_with("(%rbp), %rsp"));
    }

    bool restores_from_frame() const {
        return std::any_of(lines_.begin() + static_cast<std::ptrdiff_t>(first_),
                           lines_.begin() + static_cast<std::ptrdiff_t>(last_), is_restore);
    }

    /// Adds or subtracts what the function takes itself, to which its pad comes. The immediate is
    /// written as bytes, as a small number would get a short one.
    static std::string change(std::string_view opcode, std::uint32_t own_bytes, Labels& labels) {
        const std::string number = std::to_string(labels.changes++);
        return "\t.byte\t" + std::string(opcode) + "\n.Lsteelyard_pad_" + number + ":\n\t.long\t" +
               std::to_string(own_bytes) + "\n";
    }

    std::vector<Line>& lines_;
    std::size_t first_, last_;
};

std::vector<Line> parse_lines(std::string_view assembly) {
    std::vector<Line> lines;
    bool inline_assembly = false;
    while (!assembly.empty()) {
        const std::size_t end = assembly.find('\n');
        const std::string_view text = assembly.substr(0, end);
        assembly.remove_prefix(end == std::string_view::npos ? assembly.size() : end + 1);
        if (text.starts_with("\t#APP"))
            inline_assembly = true;
        lines.push_back(inline_assembly ? Line{text, {}, {}} : parse(text));
        if (text.starts_with("\t#NO_APP"))
            inline_assembly = false;
    }
    return lines;
}

/// The name in `.type NAME,@function`, or nothing.
std::string_view function_type(std::string_view text) {
    constexpr std::string_view before = "\t.type\t", after = ",@function";
    const std::size_t end = text.find(after);
    if (!text.starts_with(before) || end == std::string_view::npos)
        return {};
    return text.substr(before.size(), end - before.size());
}

}  // namespace

bool is_compiled(std::string_view assembly) {
    const std::size_t ident = assembly.rfind("\t.ident\t");
    return ident != std::string_view::npos &&
           assembly.find("clang", ident) != std::string_view::npos;
}

std::string with_pads(std::string_view assembly) {
    if (!is_compiled(assembly))
        return std::string(assembly);
    std::vector<Line> lines = parse_lines(assembly);
    std::vector<std::string> before(lines.size());
    std::string unpadded;
    Labels labels;
    for (std::size_t at = 0; at < lines.size(); ++at) {
        const std::string_view name = function_type(lines[at].text);
        if (name.empty())
            continue;
        std::size_t last = at + 1;
        while (last < lines.size() && !lines[last].text.starts_with(".Lfunc_end") &&
               function_type(lines[last].text).empty())
            ++last;
        FunctionText function(lines, at + 1, last);
        if (!function.calls())
            continue;
        if (const auto reason = function.pad(before, labels))
            unpadded += "\t.asciz\t\"" + std::string(name) + "\"\n\t.asciz\t\"" + *reason + "\"\n";
    }
    std::string padded;
    padded.reserve(assembly.size() + assembly.size() / 8);
    for (std::size_t at = 0; at < lines.size(); ++at) {
        padded += before[at];
        padded.append(lines[at].text).push_back('\n');
    }
    padded += "\t.section\t.debug_steelyard_pads,\"\",@progbits\n";
    for (std::size_t pad = 0; pad < labels.changes; ++pad)
        padded += "\t.quad\t.Lsteelyard_pad_" + std::to_string(pad) + "\n";
    if (!unpadded.empty())
        padded += "\t.section\t.steelyard.unpadded,\"\",@progbits\n" + unpadded;
    return padded;
}

}  // namespace steelyard::layout
