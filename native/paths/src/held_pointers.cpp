#include "held_pointers.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <ranges>
#include <string_view>
#include <utility>

#include "control_flow.hpp"
#include "followed_code.hpp"
#include "pointer_moves.hpp"

namespace steelyard {

namespace {

constexpr std::int64_t word = sizeof(std::uint64_t);
// Of a function with more instructions nothing is said.
constexpr std::size_t most_steps = 100'000;
constexpr std::uint8_t load_address = 0x8d;
constexpr std::array<std::string_view, 7> returning_twice = {
    "setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "vfork", "getcontext", "swapcontext"};

}  // namespace

HeldPointers::HeldPointers(const ElfTables& tables, const ProgramReferences& references,
                           const Plan& plan)
    : references_(references),
      wrapped_calls_(plan.wrapped_calls),
      moves_(tables, references, plan) {}

/// The lowest place of the stack whose address is taken: what lies there may reach up to any other.
std::int64_t HeldPointers::exposed_from(const StackDepths& depths) {
    constexpr std::int64_t everywhere = std::numeric_limits<std::int64_t>::min();
    std::int64_t found = std::numeric_limits<std::int64_t>::max();
    const bool has_frame_pointer = std::ranges::any_of(depths.steps(), [](const CodeStep& step) {
        return step.use.kind == StackUse::Kind::to_frame_pointer;
    });
    for (const CodeStep& step : depths.steps()) {
        const bool is_frames = has_frame_pointer && step.use.has_frame_operand &&
                               is_plain(step.instruction, load_address) &&
                               step.use.kind != StackUse::Kind::by_frame_pointer;
        const bool is_copied = step.use.kind == StackUse::Kind::read ||
                               step.use.kind == StackUse::Kind::to_frame_pointer;
        if (is_frames || ((step.use.is_address || is_copied) && !step.depth))
            return everywhere;
        if (step.use.is_address && step.depth)
            found = std::min(found, step.use.displacement - *step.depth);
        else if (is_copied && step.depth)
            found = std::min(found, -*step.depth);
    }
    return found;
}

/// What a call gives back.
HeldValue HeldPointers::called(const CodeStep& step, std::span<const std::uint8_t> code) const {
    if (step.instruction.field != Field::call)
        return anything;
    const auto known = returned_.find(called_function(target_of(step, code), wrapped_calls_));
    return known == returned_.end() ? anything : known->second;
}

/// Shows each instruction with what is known before it; again where more ways lead to it.
void HeldPointers::follow(const StackDepths& depths, const std::vector<std::uint64_t>& jump_targets,
                          const Visit& shown) {
    moves_.begin(exposed_from(depths));
    shown_ = &shown;
    HeldState unknown;
    unknown.registers.fill(anything);
    unknown.vectors.fill(anything);
    FollowedCode<HeldPointers> followed(depths, jump_targets, *this);
    followed.from(depths.entry(), unknown);
    unknown.others = anything;
    followed.from_unreached(unknown);
}

void HeldPointers::step_over(const CodeStep& step, std::span<const std::uint8_t> code,
                             HeldState& state) {
    moves_.step_over(step, code, state, is_call(step.instruction) ? called(step, code) : anything);
}

HeldState HeldPointers::joined(const HeldState& one, const HeldState& other) {
    return moves_.values().joined(one, other);
}

void HeldPointers::visit(const CodeStep& step, std::span<const std::uint8_t> code,
                         const HeldState& state) {
    (*shown_)(step, code, state);
}

void HeldPointers::learn_returned(const StackDepths& depths,
                                  const std::vector<std::uint64_t>& jump_targets) {
    constexpr std::uint8_t return_near = 0xc3;
    const std::vector<CodeStep>& steps = depths.steps();
    // A jump to another function gives back what that does.
    const auto leaves = [&](const CodeStep& step) {
        return is_indirect_jump(step.instruction) ||
               (step.instruction.field == Field::jump &&
                std::ranges::find(steps, target_of(step, depths.bytes_of(step)),
                                  &CodeStep::address) == steps.end());
    };
    if (steps.size() > most_steps || !moves_.names_functions(depths) ||
        std::ranges::any_of(steps, leaves))
        return;
    HeldValue found = nothing;
    follow(depths, jump_targets,
           [&](const CodeStep& step, std::span<const std::uint8_t>, const HeldState& state) {
               if (is_plain(step.instruction, return_near))
                   found = moves_.values().joined(found, state.registers[0]);
           });
    if (!moves_.values().meaning_of(found).functions.empty())
        returned_.emplace(depths.entry(), found);
}

std::map<std::uint64_t, std::set<std::uint64_t>> HeldPointers::in(
    const StackDepths& depths, const std::vector<std::uint64_t>& jump_targets) {
    const std::vector<CodeStep>& steps = depths.steps();
    const auto is_by_pointer = [](const CodeStep& step) {
        return is_indirect_call(step.instruction) || is_indirect_jump(step.instruction);
    };
    // A jump while the frame is there is one by a table.
    const auto is_by_table = [](const CodeStep& step) {
        return is_indirect_jump(step.instruction) && step.depth != word;
    };
    const auto is_given_back = [&](const CodeStep& step) {
        return called(step, depths.bytes_of(step)) != anything;
    };
    // Behind such a call is what was written after it, too.
    const auto returns_twice = [&](const CodeStep& step) {
        if (step.instruction.field != Field::call && step.instruction.field != Field::memory)
            return false;
        const std::uint64_t target = target_of(step, depths.bytes_of(step));
        const Slot* const slot = step.instruction.field == Field::call
                                     ? references_.through_stub(target)
                                     : references_.slot(target);
        return slot != nullptr && std::ranges::find(returning_twice, slot->symbol) !=
                                      std::ranges::end(returning_twice);
    };
    if (steps.size() > most_steps || std::ranges::none_of(steps, is_by_pointer) ||
        std::ranges::any_of(steps, returns_twice) ||
        (jump_targets.empty() && std::ranges::any_of(steps, is_by_table)) ||
        (!moves_.names_functions(depths) && std::ranges::none_of(steps, is_given_back)))
        return {};
    std::map<std::uint64_t, HeldValue> values;
    follow(depths, jump_targets,
           [&](const CodeStep& step, std::span<const std::uint8_t> code, const HeldState& state) {
               if (!is_by_pointer(step))
                   return;
               HeldValue& value = values[step.address];
               value = moves_.values().joined(value, moves_.read(step, code, state));
           });
    std::map<std::uint64_t, std::set<std::uint64_t>> found;
    for (const auto& [address, value] : values) {
        if (!moves_.values().meaning_of(value).functions.empty())
            found.emplace(address, moves_.values().meaning_of(value).functions);
    }
    return found;
}

}  // namespace steelyard
