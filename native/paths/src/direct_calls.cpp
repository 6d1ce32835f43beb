#include "direct_calls.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include "stack_use.hpp"

namespace steelyard {

namespace {

constexpr std::int64_t word = sizeof(std::uint64_t);
// The widest register of vectors: what an operand below a word may reach of it.
constexpr std::int64_t widest_operand = 64;

struct Place {
    std::uint64_t address;
    Instruction instruction;
    StackUse use;
    std::uint64_t target = 0;   ///< of a jump or call
    bool has_row = false;       ///< whether a table says where the CFA is
    bool by_stack = false;      ///< it says so by the stack pointer
    std::int64_t distance = 0;  ///< from that register to the CFA
    bool is_start = false;      ///< one of the pushes with which the function starts
    std::uint8_t first_byte = 0;

    bool is_group(std::uint8_t number) const {
        return !instruction.vector_encoding && instruction.map == one_byte &&
               instruction.opcode == 0xff && (instruction.modrm >> 3U & 7U) == number;
    }
    bool pops_on_return() const {
        return instruction.map == one_byte && instruction.opcode == 0xc2;
    }
    bool returns() const { return instruction.map == one_byte && instruction.opcode == 0xc3; }
};

/// The function that holds an address, as its index; nothing where none does.
std::optional<std::uint32_t> holding(std::span<const PlannedFunction> functions,
                                     std::uint64_t address) {
    const auto after = std::ranges::upper_bound(functions, address, {}, &PlannedFunction::start);
    if (after == functions.begin() || address >= std::prev(after)->end)
        return std::nullopt;
    return static_cast<std::uint32_t>(std::prev(after) - functions.begin());
}

/// A function with its parts.
class Reading {
  public:
    Reading(std::span<const PlannedFunction> functions, std::uint32_t owner, CodeBytes code,
            CallFrames& frames)
        : functions_(functions), owner_(owner), code_(code), frames_(frames) {}

    void read(const PlannedFunction& part) {
        bool starts = functions_[owner_].start == part.start;
        for (std::uint64_t at = part.start; at < part.end;) {
            const auto rest = code_.bytes.subspan(static_cast<std::size_t>(at - code_.address));
            const auto instruction = decode(rest);
            if (!instruction) {
                is_readable_ = false;
                return;
            }
            Place place{
                .address = at, .instruction = *instruction, .use = stack_use(*instruction, rest)};
            place.first_byte = rest[0];
            if (instruction->field == Field::jump || instruction->field == Field::call)
                place.target = at + instruction->length +
                               static_cast<std::uint64_t>(field_distance(*instruction, rest));
            read_row(place);
            starts = starts && (place.use.kind == StackUse::Kind::push ||
                                place.use.kind == StackUse::Kind::to_frame_pointer ||
                                is_landing(*instruction));
            place.is_start = starts;
            places_.push_back(place);
            at += instruction->length;
        }
    }

    CalledFunction function() const {
        CalledFunction found{.start = functions_[owner_].start, .leaves_to = {}, .reason = {}};
        if (!is_readable_) {
            found.reason = "its code cannot be read";
            found.leaves_unknown = found.calls_unknown = true;
            return found;
        }
        for (const Place& place : places_) {
            note_ways(place, found);
            if (found.reason.empty())
                found.reason = fault_of(place);
        }
        return found;
    }

    void add_calls(std::vector<DirectCall>& calls) const {
        for (const Place& place : places_) {
            if (place.instruction.field != Field::call || place.instruction.length != 5 ||
                !is_readable_)
                continue;
            const auto callee = holding(functions_, place.target);
            if (!callee || functions_[*callee].start != place.target)
                continue;
            const bool is_known = place.has_row && place.by_stack;
            calls.push_back({place.address, functions_[owner_].start, place.target,
                             is_known ? place.distance : 0, passes_no_stack(place)});
        }
    }

  private:
    /// `endbr64`, which comes first where it is at all.
    static bool is_landing(const Instruction& instruction) {
        return instruction.map == map_0f && instruction.opcode == 0x1e;
    }

    void read_row(Place& place) {
        const UnwindRow* const row = frames_.at(place.address);
        if (row == nullptr || row->cfa.kind != RegisterRule::Kind::in_register)
            return;
        place.by_stack = row->cfa.other_register == stack_register;
        place.has_row = place.by_stack || row->cfa.other_register == frame_register;
        place.distance = row->cfa.distance;
    }

    void note_ways(const Place& place, CalledFunction& found) const {
        if (place.instruction.field == Field::call && !holding(functions_, place.target))
            found.calls_unknown = true;
        if (place.is_group(2))
            found.calls_unknown = true;
        // A frame in place shows that a jump by a register stays inside, as those of `switch` do.
        const bool is_framed = place.has_row && (!place.by_stack || place.distance != word);
        if (place.is_group(4) && !is_framed && !is_switch(place))
            found.leaves_unknown = true;
        if (place.instruction.field != Field::jump)
            return;
        const auto to = holding(functions_, place.target);
        if (!to) {
            found.leaves_unknown = true;
        } else if (functions_[*to].owner != owner_) {
            if (functions_[*to].start == place.target)
                found.leaves_to.push_back(place.target);
            else
                found.leaves_unknown = true;
        }
    }

    /// `notrack`, which compilers write before jumps by a table alone.
    static bool is_switch(const Place& place) { return place.first_byte == 0x3e; }

    /// Why this instruction may use what its caller has on the stack, or the return address.
    std::string_view fault_of(const Place& place) const {
        if (!place.has_row)
            return "its frame is described in another way";
        if (place.pops_on_return())
            return "it takes arguments from the stack";
        const StackUse& use = place.use;
        if (place.by_stack) {
            if (place.returns() && place.distance != word)
                return "its frame table does not follow the stack pointer";
            if (use.kind == StackUse::Kind::other)
                return "it changes the stack pointer in another way";
            if (use.kind == StackUse::Kind::pop && place.distance <= word)
                return "it takes its return address";
            if (use.kind == StackUse::Kind::read && place.distance <= word)
                return "it takes its return address";
        }
        if (use.has_operand && place.by_stack)
            return fault_at(use.displacement - place.distance, use.is_scaled);
        if (use.has_frame_operand && !place.by_stack)
            return fault_at(use.frame_displacement - place.distance, false);
        return {};
    }

    static std::string_view fault_at(std::int64_t from_frame, bool is_scaled) {
        if (is_scaled)
            return "an operand of it is scaled";
        if (from_frame >= 0)
            return "it takes arguments from the stack";
        return from_frame >= -word ? "it takes its return address" : "";
    }

    /// Nothing but a saved register can be in the word that a call finds at the top of the stack.
    bool passes_no_stack(const Place& call) const {
        if (!call.has_row || !call.by_stack || call.distance <= word)
            return call.has_row && call.by_stack && call.distance == word;
        const UnwindRow* const row = frames_.at(call.address);
        const bool is_saved = std::ranges::any_of(row->registers, [&](const RegisterRule& rule) {
            return rule.kind == RegisterRule::Kind::offset && rule.distance == -call.distance;
        });
        return is_saved || std::ranges::all_of(places_, [&](const Place& place) {
                   return leaves_alone(place, call.distance);
               });
    }

    /// Whether an instruction writes nothing `distance` below the CFA, and takes no address there.
    static bool leaves_alone(const Place& place, std::int64_t distance) {
        if (!place.has_row || !place.by_stack)
            return false;
        const StackUse& use = place.use;
        if (use.kind == StackUse::Kind::read || use.kind == StackUse::Kind::to_frame_pointer)
            return place.distance < distance;
        if (use.kind == StackUse::Kind::other)
            return false;
        // Before anything is computed this register has no value that could be an argument.
        const bool is_room = place.is_start && place.instruction.opcode == 0x50;
        if (use.kind == StackUse::Kind::push && place.distance + word == distance && !is_room)
            return false;
        if (!use.has_operand)
            return true;
        const std::int64_t above = use.displacement - place.distance + distance;
        if (use.is_scaled || use.is_address || use.is_indexed)
            return !use.is_scaled && above >= word;
        return above >= word || above <= -widest_operand;
    }

    std::span<const PlannedFunction> functions_;
    std::uint32_t owner_;
    CodeBytes code_;
    CallFrames& frames_;
    std::vector<Place> places_;
    bool is_readable_ = true;
};

}  // namespace

ProgramCalls direct_calls(std::span<const PlannedFunction> functions, CodeBytes code,
                          CallFrames& frames) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> parts;
    for (std::uint32_t index = 0; index < functions.size(); ++index)
        parts[functions[index].owner].push_back(index);
    ProgramCalls found;
    for (const auto& [owner, indices] : parts) {
        Reading reading(functions, owner, code, frames);
        for (const std::uint32_t index : indices)
            reading.read(functions[index]);
        found.functions.push_back(reading.function());
        reading.add_calls(found.calls);
    }
    return found;
}

namespace {

void each_instruction(std::span<const PlannedFunction> functions, CodeBytes code,
                      const auto& visit) {
    for (const PlannedFunction& function : functions) {
        for (std::uint64_t at = function.start; at < function.end;) {
            const auto rest = code.bytes.subspan(static_cast<std::size_t>(at - code.address));
            const auto instruction = decode(rest);
            if (!instruction)
                break;
            at += instruction->length;
            visit(*instruction, rest, at);
        }
    }
}

}  // namespace

std::unordered_set<std::uint64_t> computed_addresses(std::span<const PlannedFunction> functions,
                                                     CodeBytes code) {
    std::unordered_set<std::uint64_t> found;
    each_instruction(functions, code, [&](const Instruction& instruction, auto rest, auto next) {
        if (instruction.field == Field::address)
            found.insert(next + static_cast<std::uint64_t>(field_distance(instruction, rest)));
    });
    return found;
}

std::unordered_set<std::uint64_t> addresses_in_code(std::span<const PlannedFunction> functions,
                                                    CodeBytes code) {
    std::unordered_set<std::uint64_t> found = computed_addresses(functions, code);
    each_instruction(functions, code, [&](const Instruction& instruction, auto rest, auto) {
        std::uint64_t number = 0;
        if (instruction.immediate_bytes < sizeof(std::uint32_t))
            return;
        std::memcpy(&number, &rest[instruction.immediate_offset], instruction.immediate_bytes);
        found.insert(number);
    });
    return found;
}

}  // namespace steelyard
