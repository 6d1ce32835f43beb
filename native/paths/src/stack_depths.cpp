#include "stack_depths.hpp"

#include <algorithm>
#include <map>

#include "control_flow.hpp"

namespace steelyard {

namespace {

constexpr std::int64_t word = sizeof(std::uint64_t);
constexpr std::uint8_t leave_frame = 0xc9, load_address = 0x8d;
constexpr const char* const varying =
    "it takes stack by a number that is computed (alloca or a "
    "variable array)";
constexpr const char* const aligning = "it aligns its stack";
constexpr const char* const unreadable = "its code or its frame table cannot be read";

bool is_alignment(const Instruction& instruction) {
    const std::uint8_t opcode = instruction.opcode;
    return instruction.map == one_byte && (opcode == 0x81 || opcode == 0x83) &&
           extension_of(instruction) == 4;
}

}  // namespace

std::int64_t displacement_of(const Instruction& instruction, std::span<const std::uint8_t> code) {
    std::uint32_t value = 0;
    for (unsigned place = 0; place < instruction.displacement_bytes; ++place)
        value |= std::uint32_t{code[instruction.displacement_offset + place]} << 8U * place;
    if (instruction.displacement_bytes == 1)
        return static_cast<std::int8_t>(value);
    return static_cast<std::int32_t>(value);
}

StackDepths::StackDepths(std::uint64_t entry,
                         std::vector<std::pair<std::uint64_t, std::uint64_t>> parts, CodeBytes code,
                         CallFrames& frames)
    : entry_(entry), code_(code), frames_(frames) {
    std::ranges::sort(parts);
    for (const auto& [start, end] : parts)
        read(start, end);
    note_tables();
    const bool by_stack =
        std::ranges::all_of(by_stack_, [](const auto& depth) { return depth.has_value(); });
    if (!by_stack && !steps_.empty())
        follow(entry);
    for (std::size_t index = 0; index < steps_.size(); ++index) {
        if (by_stack_[index])
            steps_[index].depth = by_stack_[index];
        else if (states_[index].kind == State::Kind::known)
            steps_[index].depth = states_[index].depth;
    }
}

std::span<const std::uint8_t> StackDepths::bytes_of(const CodeStep& step) const {
    return code_.bytes.subspan(static_cast<std::size_t>(step.address - code_.address));
}

void StackDepths::read(std::uint64_t start, std::uint64_t end) {
    for (std::uint64_t at = start; at < end;) {
        const auto rest = code_.bytes.subspan(static_cast<std::size_t>(at - code_.address));
        const auto instruction = decode(rest);
        if (!instruction) {
            reason_ = unreadable;
            return;
        }
        steps_.push_back({at, *instruction, stack_use(*instruction, rest), std::nullopt});
        at += instruction->length;
    }
}

void StackDepths::note_tables() {
    by_stack_.resize(steps_.size());
    by_frame_.resize(steps_.size());
    states_.resize(steps_.size());
    for (std::size_t index = 0; index < steps_.size(); ++index) {
        const UnwindRow* const row = frames_.at(steps_[index].address);
        if (row == nullptr || row->cfa.kind != RegisterRule::Kind::in_register)
            continue;
        if (row->cfa.other_register == stack_register)
            by_stack_[index] = row->cfa.distance;
        else if (row->cfa.other_register == frame_register)
            by_frame_[index] = row->cfa.distance;
    }
}

std::optional<std::size_t> StackDepths::index_of(std::uint64_t address) const {
    const auto found = std::ranges::lower_bound(steps_, address, {}, &CodeStep::address);
    if (found == steps_.end() || found->address != address)
        return std::nullopt;
    return static_cast<std::size_t>(found - steps_.begin());
}

void StackDepths::vary(const char* reason) {
    if (reason_.empty())
        reason_ = reason;
}

void StackDepths::arrive(std::uint64_t address, State state) {
    const auto index = index_of(address);
    if (!index)
        return;
    if (const auto& depth = by_stack_[*index])
        state = {State::Kind::known, state.is_sure, *depth};
    State& old = states_[*index];
    const bool is_same = old.kind == state.kind && old.depth == state.depth;
    if (old.kind == State::Kind::varies || (is_same && (old.is_sure || !state.is_sure)))
        return;
    if (old.kind == State::Kind::known && !is_same) {
        if (!state.is_sure)
            return;
        if (old.is_sure) {
            state.kind = State::Kind::varies;
            vary(varying);
        }
    }
    old = state;
    waiting_.push_back(*index);
}

StackDepths::State StackDepths::after(std::size_t index) {
    State state = states_[index];
    const CodeStep& step = steps_[index];
    const Instruction& instruction = step.instruction;
    switch (step.use.kind) {
        case StackUse::Kind::push:
            state.depth += word;
            break;
        case StackUse::Kind::pop:
            state.depth -= word;
            break;
        case StackUse::Kind::allocate:
            state.depth += step.use.amount;
            break;
        case StackUse::Kind::release:
            state.depth -= step.use.amount;
            break;
        case StackUse::Kind::by_frame_pointer: {
            // Known again, whatever was before.
            const auto& depth = by_frame_[index];
            if (!depth)
                break;
            state.kind = State::Kind::known;
            state.depth = *depth;
            if (instruction.opcode == leave_frame)
                state.depth -= word;
            else if (instruction.opcode == load_address)
                state.depth -= displacement_of(instruction, bytes_of(step));
            break;
        }
        case StackUse::Kind::other:
            state.kind = State::Kind::varies;
            vary(is_alignment(instruction) ? aligning : varying);
            break;
        default:
            break;
    }
    return state;
}

void StackDepths::leave(std::size_t index) {
    const CodeStep& step = steps_[index];
    const Instruction& instruction = step.instruction;
    const State state = after(index);
    if (instruction.field == Field::jump)
        arrive(
            step.next() + static_cast<std::uint64_t>(field_distance(instruction, bytes_of(step))),
            state);
    if (ends_way(instruction) || (!state.is_sure && is_padding(instruction)))
        return;
    if (!is_call(instruction))
        return arrive(step.next(), state);
    if (const auto behind = index_of(step.next()))
        behind_calls_.emplace_back(*behind, state);
}

void StackDepths::run() {
    while (!waiting_.empty()) {
        const std::size_t index = waiting_.back();
        waiting_.pop_back();
        leave(index);
    }
}

std::optional<std::size_t> StackDepths::first_unset() const {
    const auto found = std::ranges::find(states_, State::Kind::unset, &State::kind);
    if (found == states_.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - states_.begin());
}

/// What code has that no other leads to: the depth of jumps by tables, whose targets are not read,
/// or that of most calls, with which unwinding resumes.
std::int64_t StackDepths::usual_depth() const {
    std::map<std::int64_t, int> counts;
    for (std::size_t index = 0; index < steps_.size(); ++index) {
        const State& state = states_[index];
        if (state.kind != State::Kind::known)
            continue;
        if (is_indirect_jump(steps_[index].instruction) && state.depth > word)
            return state.depth;
        if (is_call(steps_[index].instruction))
            ++counts[state.depth];
    }
    const auto most =
        std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
    return most == counts.end() ? word : most->first;
}

void StackDepths::follow(std::uint64_t entry) {
    arrive(entry, {State::Kind::known, true, word});
    run();
    for (;;) {
        const auto nearest =
            std::ranges::min_element(behind_calls_, {}, [](const auto& one) { return one.first; });
        if (nearest != behind_calls_.end()) {
            auto [index, state] = *nearest;
            behind_calls_.erase(nearest);
            state.is_sure = false;
            arrive(steps_[index].address, state);
        } else if (const auto unset = first_unset()) {
            arrive(steps_[*unset].address, {State::Kind::known, false, usual_depth()});
        } else {
            return;
        }
        run();
    }
}

}  // namespace steelyard
