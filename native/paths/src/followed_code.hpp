// Follows all ways through a function with what is known before each of its instructions.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "control_flow.hpp"
#include "stack_depths.hpp"

namespace steelyard {

/// What the field of an instruction leads to.
inline std::uint64_t target_of(const CodeStep& step, std::span<const std::uint8_t> code) {
    return step.next() + static_cast<std::uint64_t>(field_distance(step.instruction, code));
}

/// `Knowledge` has a type `State`, and
///
///   State joined(const State&, const State&)         where ways meet; never less than one of them
///   void step_over(const CodeStep&, code, State&)    what an instruction changes
///   void visit(const CodeStep&, code, const State&)  before that; again where more ways lead there
template <typename Knowledge>
class FollowedCode {
  public:
    using State = Knowledge::State;

    /// `jump_targets` has the places that the function's tables lead to.
    FollowedCode(const StackDepths& depths, const std::vector<std::uint64_t>& jump_targets,
                 Knowledge& knowledge)
        : depths_(depths),
          steps_(depths.steps()),
          jump_targets_(jump_targets),
          knowledge_(knowledge),
          meetings_(jump_targets.begin(), jump_targets.end()),
          is_reached_(steps_.size()) {
        for (const CodeStep& step : steps_) {
            if (step.instruction.field == Field::jump)
                meetings_.insert(target_of(step, depths.bytes_of(step)));
        }
    }

    void from(std::uint64_t address, const State& state) {
        arrive(address, state);
        while (!waiting_.empty()) {
            const std::size_t at = waiting_.back();
            waiting_.pop_back();
            go_on(at, states_.at(at));
        }
    }

    /// From all that nothing leads to, as exceptions do.
    void from_unreached(const State& state) {
        for (std::size_t at = 0; at < steps_.size(); ++at) {
            if (!is_reached_[at] && !is_padding(steps_[at].instruction))
                from(steps_[at].address, state);
        }
    }

  private:
    void arrive(std::uint64_t address, const State& state) {
        const auto found = std::ranges::lower_bound(steps_, address, {}, &CodeStep::address);
        if (found == steps_.end() || found->address != address)
            return;
        const auto index = static_cast<std::size_t>(found - steps_.begin());
        const auto known = states_.find(index);
        State both = known == states_.end() ? state : knowledge_.joined(known->second, state);
        if (known != states_.end() && known->second == both)
            return;
        states_.insert_or_assign(index, std::move(both));
        waiting_.push_back(index);
    }

    /// To where another way may come in.
    void go_on(std::size_t at, State state) {
        for (bool goes_on = true; goes_on; ++at) {
            const CodeStep& step = steps_[at];
            const auto code = depths_.bytes_of(step);
            is_reached_[at] = true;
            knowledge_.visit(step, code, state);
            jump(step, code, state);
            if (ends_way(step.instruction))
                return;
            knowledge_.step_over(step, code, state);
            goes_on = at + 1 < steps_.size() && steps_[at + 1].address == step.next() &&
                      !meetings_.contains(step.next());
            if (!goes_on)
                arrive(step.next(), state);
        }
    }

    void jump(const CodeStep& step, std::span<const std::uint8_t> code, const State& state) {
        if (step.instruction.field == Field::jump)
            arrive(target_of(step, code), state);
        if (!is_indirect_jump(step.instruction))
            return;
        for (const std::uint64_t target : jump_targets_)
            arrive(target, state);
    }

    const StackDepths& depths_;
    const std::vector<CodeStep>& steps_;
    const std::vector<std::uint64_t>& jump_targets_;
    Knowledge& knowledge_;
    std::set<std::uint64_t> meetings_;  ///< where jumps lead to
    std::vector<bool> is_reached_;
    std::map<std::size_t, State> states_;
    std::vector<std::size_t> waiting_;
};

}  // namespace steelyard
