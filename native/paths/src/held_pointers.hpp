// Which functions a pointer may hold where it is called, as far as the calling function says: one
// whose address it takes, those of a constant table that it reads, or what a function that it
// called gave back so.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "argument_steps.hpp"
#include "constant_tables.hpp"
#include "elf_tables.hpp"
#include "held_values.hpp"
#include "program_references.hpp"
#include "stack_depths.hpp"

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
    HeldValue address_value(std::uint64_t address);
    HeldValue functions_of(std::uint64_t table);

    using Visit =
        std::function<void(const CodeStep&, std::span<const std::uint8_t>, const HeldState&)>;
    void follow(const StackDepths& depths, const std::vector<std::uint64_t>& jump_targets,
                const Visit& shown);
    bool names_functions(const StackDepths& depths);
    static std::int64_t exposed_from(const StackDepths& depths);
    HeldValue called(const CodeStep& step, std::span<const std::uint8_t> code) const;
    HeldValue on_stack(const CodeStep& step, const HeldState& state);
    HeldValue word_at(std::int64_t place, const HeldState& state) const;
    HeldValue read(const CodeStep& step, std::span<const std::uint8_t> code,
                   const HeldState& state);
    HeldValue computed(const CodeStep& step, std::span<const std::uint8_t> code,
                       const HeldState& state);
    void write(const CodeStep& step, std::span<const std::uint8_t> code, HeldState& state,
               HeldValue value);
    bool write_vector(const CodeStep& step, std::span<const std::uint8_t> code, HeldState& state);
    static void store(const CodeStep& step, HeldState& state, HeldValue value, std::int64_t bytes);

    const Visit* shown_ = nullptr;
    const ProgramReferences& references_;
    const WrappedCalls& wrapped_calls_;
    std::set<std::uint64_t> starts_;
    bool has_fixed_addresses_;
    ConstantTables tables_;
    HeldValues values_;
    /// Of the function that is read, from where on others may write to its words of the stack.
    std::int64_t exposed_from_ = 0;
    std::map<std::uint64_t, HeldValue> returned_;  ///< by functions; the others return anything
};

}  // namespace steelyard
