// Where the tables lead to by which compilers jump within a function.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "elf_tables.hpp"
#include "stack_depths.hpp"

namespace steelyard {

/// Compilers jump within a function by a table: of addresses, with an index; or of distances, which
/// are added just before; or, where jumps are checked (`-fcf-protection`), with a prefix.
bool is_table_jump(const CodeStep& step, const CodeStep* before, const StackDepths& depths);

/// Whether it jumps to what a table holds that lies at the address in a register, with an index: a
/// table of the function, as with labels for values, or one of other functions.
bool is_jump_by_any_table(const CodeStep& step, const StackDepths& depths);

class JumpTables {
  public:
    /// Throws Malformed where the file's segments are damaged.
    explicit JumpTables(const ElfTables& tables);

    /// The places within the parts of a function that tables which its code names lead to: tables
    /// of distances from themselves, or of addresses. What is no table may add some.
    std::vector<std::uint64_t> targets(
        const StackDepths& depths,
        const std::vector<std::pair<std::uint64_t, std::uint64_t>>& parts) const;

  private:
    Bytes bytes_from(std::uint64_t address) const;

    std::vector<std::pair<std::uint64_t, Bytes>> segments_;  ///< with their addresses
};

}  // namespace steelyard
