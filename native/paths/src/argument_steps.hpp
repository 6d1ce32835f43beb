// The instructions of a program as far as arguments of functions go.

#pragma once

#include <cstdint>
#include <unordered_map>

#include "elf_tables.hpp"
#include "passed_arguments.hpp"
#include "planner.hpp"
#include "program_references.hpp"
#include "stack_depths.hpp"

namespace steelyard {

using WrappedCalls = std::unordered_map<std::uint64_t, WrappedCall>;

/// Whether compilers of C and its kin alone wrote the program. Others pass parts of values that are
/// not set (None of Rust), which the callee reads all the same before it looks whether they are.
bool is_of_c_compilers(const ElfTables& tables);

/// Of a call that leads to a wrapper the function that this calls; otherwise what is called.
std::uint64_t called_function(std::uint64_t target, const WrappedCalls& wrapped);

/// An instruction behind another one.
ArgumentStep argument_step(const CodeStep& step, const CodeStep* before, const StackDepths& depths,
                           const ProgramReferences& references, const WrappedCalls& wrapped);

}  // namespace steelyard
