#include "value_moves.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <ranges>

#include "control_flow.hpp"
#include "followed_code.hpp"
#include "pointer_moves.hpp"
#include "register_effects.hpp"

namespace steelyard {

namespace {

constexpr std::int64_t word = sizeof(std::uint64_t);
constexpr std::uint8_t add_to_operand = 0x01, add_to_field = 0x03, move_to_operand = 0x89,
                       move_to_field = 0x8b, load_address = 0x8d, move_number = 0xb8,
                       move_number_last = 0xbf, move_number_to_operand = 0xc7;
// rax, rcx, rdx, rsi, rdi, r8 to r11: those that a call may change.
constexpr std::uint16_t changed_by_calls = 0x0fc7;

/// Where on the stack an operand lies, from the frame's own address; nothing where it is not there
/// or where that is not known.
std::optional<std::int64_t> place_on_stack(const CodeStep& step) {
    if (!step.use.has_operand || step.use.is_indexed || step.use.is_scaled || !step.depth)
        return std::nullopt;
    return step.use.displacement - *step.depth;
}

}  // namespace

ValueMoves::ValueMoves(const ElfTables& tables, const ProgramReferences& references,
                       const Plan& plan)
    : references_(references),
      has_fixed_addresses_(tables.header().e_type == ET_EXEC),
      tables_(tables) {
    for (const PlannedFunction& function : plan.functions)
        starts_.insert(function.start);
}

HeldValue ValueMoves::address_value(std::uint64_t address) {
    if (starts_.contains(address))
        return values_.number_of({std::nullopt, {address}});
    const auto table = tables_.at(address);
    return table ? values_.number_of({table, {}}) : anything;
}

/// What a word of a table may hold.
HeldValue ValueMoves::functions_of(std::uint64_t table) {
    std::set<std::uint64_t> found;
    const auto& words = references_.words();
    const auto from = words.lower_bound(table), to = words.lower_bound(tables_.end_of(table));
    for (const auto& [place, address] : std::ranges::subrange(from, to)) {
        if (starts_.contains(address))
            found.insert(address);
    }
    return found.empty() ? anything : values_.number_of({std::nullopt, std::move(found)});
}

HeldValue ValueMoves::word_at(std::int64_t place, const HeldState& state) const {
    const auto known = place < exposed_from_ ? state.words.find(place) : state.words.end();
    return known == state.words.end() ? anything : known->second;
}

/// A word of the stack; with an index, of a table there, whose words follow one another.
HeldValue ValueMoves::on_stack(const CodeStep& step, const HeldState& state) {
    if (!step.depth || step.use.is_scaled)
        return anything;
    std::int64_t place = step.use.displacement - *step.depth;
    HeldValue found = word_at(place, state);
    while (step.use.is_indexed && state.words.contains(place += word))
        found = values_.joined(found, word_at(place, state));
    return found;
}

/// What an operand holds: a register, a word of the stack, or one of a table.
HeldValue ValueMoves::read(const CodeStep& step, std::span<const std::uint8_t> code,
                           const HeldState& state) {
    const Instruction& instruction = step.instruction;
    const RegisterOperands operands = register_operands(instruction, code);
    if (operands.operand)
        return state.registers.at(*operands.operand);
    if (step.use.has_operand)
        return on_stack(step, state);
    std::optional<std::uint64_t> table;
    if (instruction.field == Field::memory)
        table =
            tables_.at(step.next() + static_cast<std::uint64_t>(field_distance(instruction, code)));
    else if (!operands.base && has_fixed_addresses_)
        table = tables_.at(static_cast<std::uint64_t>(displacement_of(instruction, code)));
    for (const auto& part : {operands.base, operands.index}) {
        if (part && !table)
            table = values_.meaning_of(state.registers.at(*part)).table;
    }
    return table ? functions_of(*table) : anything;
}

/// What an instruction puts where it writes.
HeldValue ValueMoves::computed(const CodeStep& step, std::span<const std::uint8_t> code,
                               const HeldState& state) {
    const Instruction& instruction = step.instruction;
    const RegisterOperands operands = register_operands(instruction, code);
    const auto table_of = [&](std::optional<std::uint8_t> number) {
        return number ? values_.meaning_of(state.registers.at(*number)).table : std::nullopt;
    };
    if (is_plain(instruction, move_to_field) && instruction.wide)
        return read(step, code, state);
    if (is_plain(instruction, move_to_operand) && instruction.wide)
        return state.registers.at(operands.field);
    if (is_conditional_move(instruction) && instruction.wide)
        return values_.joined(state.registers.at(operands.field), read(step, code, state));
    if (is_plain(instruction, load_address) && instruction.field == Field::address)
        return address_value(step.next() +
                             static_cast<std::uint64_t>(field_distance(instruction, code)));
    std::optional<std::uint64_t> table;
    if (is_plain(instruction, load_address) && instruction.wide) {
        table = table_of(operands.base);
        if (!table)
            table = table_of(operands.index);
    } else if ((is_plain(instruction, add_to_operand) || is_plain(instruction, add_to_field)) &&
               instruction.wide && operands.operand) {
        table = table_of(operands.operand);
        if (!table)
            table = table_of(operands.field);
    }
    const bool is_number =
        instruction.map == one_byte && !instruction.vector_encoding &&
        ((instruction.opcode >= move_number && instruction.opcode <= move_number_last) ||
         instruction.opcode == move_number_to_operand);
    if (is_number && has_fixed_addresses_ && instruction.immediate_bytes == 4) {
        std::uint32_t number = 0;
        std::memcpy(&number, &code[instruction.immediate_offset], sizeof number);
        return address_value(number);
    }
    return table ? values_.number_of({table, {}}) : anything;
}

void ValueMoves::write(const CodeStep& step, std::span<const std::uint8_t> code, HeldState& state,
                       HeldValue value) {
    const Instruction& instruction = step.instruction;
    const RegisterEffects effects = register_effects(instruction, code);
    for (unsigned number = 0; number < state.registers.size(); ++number) {
        if ((effects.may_write >> number & 1U) == 0)
            continue;
        const bool is_sure =
            effects.writes == effects.may_write && (effects.writes & (effects.writes - 1U)) == 0;
        state.registers.at(number) = is_sure ? value : anything;
    }
    const bool is_word =
        (is_plain(instruction, move_to_operand) || is_plain(instruction, move_number_to_operand)) &&
        instruction.wide;
    if (step.use.has_operand && !only_reads(instruction))
        store(step, state, is_word ? value : anything, stored_bytes(instruction));
}

void ValueMoves::store(const CodeStep& step, HeldState& state, HeldValue value,
                       std::int64_t bytes) {
    const auto place = place_on_stack(step);
    if (!place) {
        state.words.clear();
        state.others = anything;
        return;
    }
    const auto from = state.words.upper_bound(*place - word),
               to = state.words.lower_bound(*place + bytes);
    for (auto& [overlapped, held] : std::ranges::subrange(from, to))
        held = anything;
    const std::int64_t end = value == anything ? *place + word : *place + bytes;
    for (std::int64_t at = *place; at < end; at += word)
        state.words[at] = value;
}

/// Pointers that are put into vector registers, to be stored in pairs; whether it was one of these.
bool ValueMoves::write_vector(const CodeStep& step, std::span<const std::uint8_t> code,
                              HeldState& state) {
    constexpr std::uint8_t operand_size = 0x66, to_vector = 0x6e, interleave = 0x6c,
                           insert_word = 0x22, move_aligned = 0x28, move_integers = 0x6f;
    constexpr std::array<std::uint8_t, 3> stores = {0x11, 0x29, 0x7f};
    const Instruction& instruction = step.instruction;
    if (instruction.vector_encoding || instruction.map == one_byte)
        return false;
    const RegisterOperands operands = register_operands(instruction, code);
    HeldValue& field = state.vectors.at(operands.field);
    const bool is_packed = instruction.map == map_0f && instruction.prefix == operand_size;
    const auto vector_operand = [&] {
        return operands.operand ? state.vectors.at(*operands.operand) : anything;
    };
    if (is_packed && instruction.opcode == to_vector && instruction.wide) {
        field = read(step, code, state);
    } else if (instruction.map == map_0f3a && instruction.opcode == insert_word &&
               instruction.wide) {
        field = values_.joined(field, read(step, code, state));
    } else if (is_packed && instruction.opcode == interleave) {
        field = values_.joined(field, vector_operand());
    } else if (instruction.map == map_0f &&
               (instruction.opcode == move_aligned || instruction.opcode == move_integers)) {
        field = vector_operand();
    } else if (instruction.map == map_0f &&
               std::ranges::find(stores, instruction.opcode) != stores.end()) {
        if (operands.operand)
            state.vectors.at(*operands.operand) = field;
        else if (step.use.has_operand)
            store(step, state, field, 2 * word);
    } else {
        return false;
    }
    return true;
}

void ValueMoves::step_over(const CodeStep& step, std::span<const std::uint8_t> code,
                           HeldState& state, HeldValue given_back) {
    const Instruction& instruction = step.instruction;
    constexpr std::uint8_t push_first = 0x50, push_last = 0x57, pop_last = 0x5f, rex_b = 0x41,
                           rex_b_mask = 0xf1;
    if (is_call(instruction)) {
        for (unsigned number = 0; number < state.registers.size(); ++number) {
            if ((changed_by_calls >> number & 1U) != 0)
                state.registers.at(number) = anything;
        }
        state.vectors.fill(anything);
        state.registers[0] = given_back;
        return;
    }
    if (write_vector(step, code, state))
        return;
    const bool is_short = instruction.map == one_byte && !instruction.vector_encoding &&
                          instruction.opcode >= push_first && instruction.opcode <= pop_last;
    if (!is_short) {
        if (may_write_vectors(instruction)) {
            const RegisterOperands operands = register_operands(instruction, code);
            state.vectors.at(operands.field) = anything;
            if (operands.operand)
                state.vectors.at(*operands.operand) = anything;
        }
        return write(step, code, state, computed(step, code, state));
    }
    const unsigned number = (instruction.opcode & 7U) + ((code[0] & rex_b_mask) == rex_b ? 8U : 0U);
    if (instruction.opcode <= push_last) {
        if (step.depth)
            state.words[-*step.depth - word] = state.registers.at(number);
        return;
    }
    state.registers.at(number) = step.depth ? word_at(-*step.depth, state) : anything;
}

/// Whether it takes the address of a function, or of a table of them.
bool ValueMoves::names_functions(const StackDepths& depths) {
    return std::ranges::any_of(depths.steps(), [&](const CodeStep& step) {
        const auto code = depths.bytes_of(step);
        if (step.instruction.field != Field::address && step.instruction.field != Field::memory &&
            !has_fixed_addresses_)
            return false;
        std::uint64_t address = target_of(step, code);
        if (has_fixed_addresses_ && step.instruction.immediate_bytes == sizeof(std::uint32_t)) {
            std::uint32_t number = 0;
            std::memcpy(&number, &code[step.instruction.immediate_offset], sizeof number);
            address = number;
        } else if (has_fixed_addresses_ && step.instruction.field == Field::none) {
            address = static_cast<std::uint64_t>(displacement_of(step.instruction, code));
        }
        const auto table = tables_.at(address);
        return starts_.contains(address) || (table && functions_of(*table) != anything);
    });
}

}  // namespace steelyard
