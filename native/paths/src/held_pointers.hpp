// Which functions a pointer may hold where it is called, as far as the calling function says: one
// whose address it takes, those of a constant table that it reads, or what a function that it
// called gave back so.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "argument_steps.hpp"
#include "elf_tables.hpp"
#include "held_values.hpp"
#include "program_references.hpp"
#include "stack_depths.hpp"
#include "value_moves.hpp"

namespace steelyard {

class HeldPointers {
  public:
    using State = HeldState;

    /// Views last as long as the plan and the file in memory. Throws Malformed where tables of the
    /// file are damaged.
    HeldPointers(const ElfTables& tables, const ProgramReferences& references, const Plan& plan);

    /// To be given all functions before those are asked for that call by pointers: what they give
    /// back.
    void learn_returned(const StackDepths& depths, const std::vector<std::uint64_t>& jump_targets);
    /// By the addresses of calls and jumps by pointers the functions that they may lead to; those
    /// are left out of which it is not known. `jump_targets` has the places that the function's
    /// tables lead to. Assumes that nobody writes below a place of the stack whose address was
    /// given to them.
    std::map<std::uint64_t, std::set<std::uint64_t>> in(
        const StackDepths& depths, const std::vector<std::uint64_t>& jump_targets);

    /// For `FollowedCode`.
    HeldState joined(const HeldState& one, const HeldState& other);
    void step_over(const CodeStep& step, std::span<const std::uint8_t> code, HeldState& state);
    void visit(const CodeStep& step, std::span<const std::uint8_t> code, const HeldState& state);

  private:
    using Visit =
        std::function<void(const CodeStep&, std::span<const std::uint8_t>, const HeldState&)>;
    void follow(const StackDepths& depths, const std::vector<std::uint64_t>& jump_targets,
                const Visit& shown);
    static std::int64_t exposed_from(const StackDepths& depths);
    HeldValue called(const CodeStep& step, std::span<const std::uint8_t> code) const;

    const Visit* shown_ = nullptr;
    const ProgramReferences& references_;
    const WrappedCalls& wrapped_calls_;
    ValueMoves moves_;
    std::map<std::uint64_t, HeldValue> returned_;  ///< by functions; the others return anything
};

}  // namespace steelyard
