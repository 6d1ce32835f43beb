// What each instruction puts into registers and words of the stack: addresses of functions, and of
// constant tables of them.

#pragma once

#include <cstdint>
#include <set>
#include <span>

#include "constant_tables.hpp"
#include "elf_tables.hpp"
#include "held_values.hpp"
#include "planner.hpp"
#include "program_references.hpp"
#include "stack_depths.hpp"

namespace steelyard {

class ValueMoves {
  public:
    /// Views last as long as the plan and the file in memory. Throws Malformed where tables of the
    /// file are damaged.
    ValueMoves(const ElfTables& tables, const ProgramReferences& references, const Plan& plan);

    /// Of the function that is read next: from which place of its stack on others may write.
    void begin(std::int64_t exposed_from) { exposed_from_ = exposed_from; }
    /// What an operand holds: a register, a word of the stack, or one of a table.
    HeldValue read(const CodeStep& step, std::span<const std::uint8_t> code,
                   const HeldState& state);
    /// Changes the state as an instruction does; what it calls gives `given_back`.
    void step_over(const CodeStep& step, std::span<const std::uint8_t> code, HeldState& state,
                   HeldValue given_back);
    /// Whether code takes the address of a function, or of a table of them.
    bool names_functions(const StackDepths& depths);
    HeldValues& values() { return values_; }

  private:
    HeldValue address_value(std::uint64_t address);
    HeldValue functions_of(std::uint64_t table);
    HeldValue on_stack(const CodeStep& step, const HeldState& state);
    HeldValue word_at(std::int64_t place, const HeldState& state) const;
    HeldValue computed(const CodeStep& step, std::span<const std::uint8_t> code,
                       const HeldState& state);
    void write(const CodeStep& step, std::span<const std::uint8_t> code, HeldState& state,
               HeldValue value);
    bool write_vector(const CodeStep& step, std::span<const std::uint8_t> code, HeldState& state);
    static void store(const CodeStep& step, HeldState& state, HeldValue value, std::int64_t bytes);

    const ProgramReferences& references_;
    std::set<std::uint64_t> starts_;
    bool has_fixed_addresses_;
    ConstantTables tables_;
    HeldValues values_;
    std::int64_t exposed_from_ = 0;
};

}  // namespace steelyard
