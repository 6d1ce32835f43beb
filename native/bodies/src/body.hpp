// What a function does, without the addresses at which it does it.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "functions.hpp"
#include "program_file.hpp"
#include "references.hpp"

namespace steelyard {

constexpr std::size_t sketch_values = 8;

/// A function's body. Instructions that do nothing count nowhere: they only align others.
struct Body {
    std::uint64_t digest = 0;       ///< of all instructions, without what they refer to
    std::uint64_t loop_digest = 0;  ///< of those in loops; 0 where there is no loop
    std::uint32_t instructions = 0;
    std::uint32_t floating = 0;
    std::uint32_t vector = 0;
    std::uint32_t branches = 0;
    std::uint32_t calls = 0;
    std::uint32_t memory = 0;           ///< with an operand in memory
    std::vector<Reference> references;  ///< in order
    /// Least values of several hashes over runs of four operations (Broder 1997): the share of
    /// equal ones estimates how alike two bodies are.
    std::array<std::uint32_t, sketch_values> sketch{};
};

/// One instruction as bodies are made of.
struct Step {
    std::uint64_t address = 0;
    std::uint64_t token = 0;      ///< of its bytes without addresses
    std::uint64_t operation = 0;  ///< of its opcode alone
    std::uint64_t target = 0;     ///< where it jumps to within the function; 0: nowhere
    std::uint64_t constant = 0;   ///< of a number in it that is no address; 0: there is none
    std::size_t references = 0;   ///< how many of the function's come before it
    bool is_nothing = false;      ///< only there to align what follows
    bool has_table = false;       ///< jumps by a table, or reads its address
    bool never_passes = false;    ///< what follows it is reached by jumps alone
};

/// Reads the steps of one function and counts its kinds of instructions.
class BodyReader {
  public:
    BodyReader(const ProgramFile& file, const std::vector<Function>& functions,
               References& references)
        : file_(file), functions_(functions), references_(references) {}

    Body read(const Function& function);
    /// The steps of the function that was read last.
    const std::vector<Step>& steps() const { return steps_; }
    /// Where its tables lead, one after the other.
    const std::vector<std::uint64_t>& table_targets() const { return table_targets_; }

  private:
    void read_x86_64(const Function& function, Body& body);
    void read_aarch64(const Function& function, Body& body);
    /// Entries are addresses of 8 bytes, or distances of 4 from the table.
    void add_jump_table(const Function& function, std::uint64_t table, std::size_t entry_bytes);
    /// Notes a jump out of the function: to its cold part, or to another function in its place.
    void note_exit(const Reference& reference);
    /// Whether a table of the function can lead there: into it, or where it jumps to as well. What
    /// a `switch` does by default is often cold.
    bool may_lead_to(const Function& function, std::uint64_t target) const;
    /// Whether distances of 4 bytes at an address lead to code, one of the first into the function.
    /// The first two at least: a table has more than one entry.
    bool is_jump_table(const Function& function, std::uint64_t table) const;
    void end_tables(const Function& function);
    void finish(const Function& function, Body& body);

    const ProgramFile& file_;
    const std::vector<Function>& functions_;
    References& references_;
    std::vector<Step> steps_;
    std::vector<std::vector<std::uint64_t>> tables_;  ///< until all exits are known, too long
    std::vector<std::uint64_t> table_targets_;
    std::vector<std::uint32_t> exits_;  ///< functions that it jumped to

    friend class X86Steps;
    friend class Aarch64Steps;
};

}  // namespace steelyard
