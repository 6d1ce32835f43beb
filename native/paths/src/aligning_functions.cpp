#include "aligning_functions.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "stack_depths.hpp"

namespace steelyard {

namespace {

using Parts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

constexpr unsigned stack = 4;
/// System V ABI, AMD64 supplement, 3.2.2: at each call the stack is aligned to so much.
constexpr std::int64_t kept_bytes = 16;
constexpr std::uint8_t group_one_wide = 0x81, group_one = 0x83, group_five = 0xff,
                       move_to_operand = 0x89, move_to_register = 0x8b, return_near = 0xc3,
                       return_popping = 0xc2, jump_near = 0xe9, jump_short = 0xeb, halt = 0xf4,
                       trap = 0x0b;

/// `and` of a register by a number that clears lower bits.
struct Mask {
    unsigned register_number;
    std::int64_t alignment_bytes;
};

unsigned extension(const Instruction& instruction) {
    return instruction.modrm >> 3U & 7U;
}

bool has_two_registers(const Instruction& instruction) {
    return instruction.map == one_byte && !instruction.vector_encoding &&
           instruction.modrm >> 6U == 3;
}

/// The registers that ModRM names, with the bits of a REX prefix: in `reg` and in `rm`.
std::pair<unsigned, unsigned> registers_of(const Instruction& instruction,
                                           std::span<const std::uint8_t> code) {
    constexpr std::uint8_t rex = 0x40, rex_mask = 0xf0;
    unsigned prefix = 0;
    for (std::size_t at = 0; at + 2 < instruction.length && prefix == 0; ++at) {
        if ((code[at] & rex_mask) == rex)
            prefix = code[at];
        else if (code[at] == instruction.opcode)
            break;
    }
    return {extension(instruction) | (prefix & 4U) << 1U, (instruction.modrm & 7U) | (prefix & 1U)
                                                                                         << 3U};
}

std::optional<Mask> mask_of(const Instruction& instruction, std::span<const std::uint8_t> code) {
    const bool is_and = has_two_registers(instruction) && instruction.wide &&
                        extension(instruction) == 4 &&
                        (instruction.opcode == group_one || instruction.opcode == group_one_wide);
    if (!is_and)
        return std::nullopt;
    std::int32_t value = 0;
    if (instruction.immediate_bytes == 1)
        value = static_cast<std::int32_t>(code[instruction.immediate_offset] ^ 0x80U) - 0x80;
    else
        std::memcpy(&value, &code[instruction.immediate_offset], sizeof value);
    const std::int64_t bytes = -std::int64_t{value};
    if (bytes <= kept_bytes || (bytes & (bytes - 1)) != 0)
        return std::nullopt;
    return Mask{registers_of(instruction, code).second, bytes};
}

/// The register that the stack pointer is set to.
std::optional<unsigned> stack_source(const Instruction& instruction,
                                     std::span<const std::uint8_t> code) {
    if (!has_two_registers(instruction) || !instruction.wide)
        return std::nullopt;
    const auto [reg, rm] = registers_of(instruction, code);
    if (instruction.opcode == move_to_operand && rm == stack)
        return reg;
    if (instruction.opcode == move_to_register && reg == stack)
        return rm;
    return std::nullopt;
}

/// Whether bytes look like such an `and`, so that the function is worth reading.
bool may_align(const Parts& parts, CodeBytes code) {
    for (const auto& [start, end] : parts) {
        const auto bytes = code.bytes.subspan(static_cast<std::size_t>(start - code.address),
                                              static_cast<std::size_t>(end - start));
        for (std::size_t at = 0; at + 2 < bytes.size(); ++at) {
            const bool is_group = bytes[at] == group_one || bytes[at] == group_one_wide;
            if (is_group && (bytes[at + 1] & 0xf8U) == 0xe0U)
                return true;
        }
    }
    return false;
}

class Alignments {
  public:
    Alignments(std::uint64_t start, const Parts& parts, CodeBytes code, CallFrames& frames)
        : start_(start), depths_(start, parts, code, frames) {
        std::set<unsigned> masked, sources;
        for (const CodeStep& step : depths_.steps()) {
            const auto bytes = depths_.bytes_of(step);
            const auto mask = mask_of(step.instruction, bytes);
            if (mask && mask->register_number == stack)
                take(step, mask->alignment_bytes);
            if (mask && mask->register_number != stack) {
                masked.insert(mask->register_number);
                most_masked_ = std::max(most_masked_, mask->alignment_bytes);
            }
            if (const auto source = stack_source(step.instruction, bytes))
                sources.insert(*source);
        }
        sets_stack_to_masked_ = std::ranges::any_of(
            sources, [&](const unsigned source) { return masked.contains(source); });
    }

    std::optional<AligningFunction> found() const {
        if (sets_stack_to_masked_)
            return AligningFunction{start_, std::max(bytes_, most_masked_), std::nullopt};
        if (aligned_at_.empty())
            return std::nullopt;
        const bool is_known = is_alike_ && !calls_before();
        return AligningFunction{start_, bytes_, is_known ? depth_ : std::nullopt};
    }

  private:
    void take(const CodeStep& step, std::int64_t bytes) {
        if (!aligned_at_.empty())
            is_alike_ = is_alike_ && bytes == bytes_ && step.depth == depth_;
        bytes_ = std::max(bytes_, bytes);
        depth_ = step.depth;
        aligned_at_.insert(step.address);
    }

    const CodeStep* at(std::uint64_t address) const {
        const auto& steps = depths_.steps();
        const auto found = std::ranges::lower_bound(steps, address, {}, &CodeStep::address);
        return found == steps.end() || found->address != address ? nullptr : &*found;
    }

    /// Whether a call, or a jump to where a register leads, may come before the stack is aligned.
    bool calls_before() const {
        std::vector<std::uint64_t> waiting{start_};
        std::set<std::uint64_t> seen;
        while (!waiting.empty()) {
            const std::uint64_t address = waiting.back();
            waiting.pop_back();
            const CodeStep* const step = at(address);
            if (step == nullptr || aligned_at_.contains(address) || !seen.insert(address).second)
                continue;
            const Instruction& instruction = step->instruction;
            const bool is_plain = instruction.map == one_byte && !instruction.vector_encoding;
            const bool leaves_by_register = is_plain && instruction.opcode == group_five &&
                                            extension(instruction) >= 2 &&
                                            extension(instruction) <= 5;
            if (instruction.field == Field::call || leaves_by_register)
                return true;
            if (instruction.field == Field::jump)
                waiting.push_back(step->next() + static_cast<std::uint64_t>(field_distance(
                                                     instruction, depths_.bytes_of(*step))));
            if (!ends(instruction, is_plain))
                waiting.push_back(step->next());
        }
        return false;
    }

    static bool ends(const Instruction& instruction, bool is_plain) {
        const std::uint8_t opcode = instruction.opcode;
        if (instruction.map == map_0f)
            return opcode == trap;
        return is_plain && (opcode == return_near || opcode == return_popping ||
                            opcode == jump_near || opcode == jump_short || opcode == halt);
    }

    std::uint64_t start_;
    StackDepths depths_;
    std::set<std::uint64_t> aligned_at_;
    std::int64_t bytes_ = 0, most_masked_ = 0;
    std::optional<std::int64_t> depth_;
    bool is_alike_ = true, sets_stack_to_masked_ = false;
};

}  // namespace

std::vector<AligningFunction> aligning_functions(std::span<const PlannedFunction> functions,
                                                 CodeBytes code, CallFrames& frames) {
    std::map<std::uint32_t, Parts> parts;
    for (const PlannedFunction& function : functions)
        parts[function.owner].emplace_back(function.start, function.end);
    std::vector<AligningFunction> found;
    for (const auto& [owner, ranges] : parts) {
        if (!may_align(ranges, code))
            continue;
        const Alignments alignments(functions[owner].start, ranges, code, frames);
        if (const auto one = alignments.found())
            found.push_back(*one);
    }
    std::ranges::sort(found, {}, &AligningFunction::start);
    return found;
}

}  // namespace steelyard
