// The bytes of a program, by the addresses that it gives them.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "aligning_functions.hpp"
#include "clonable_functions.hpp"
#include "direct_calls.hpp"
#include "elf_tables.hpp"
#include "growable_frames.hpp"
#include "program_code.hpp"

namespace steelyard {

class ProgramBytes {
  public:
    /// Throws Fatal where it cannot be read.
    explicit ProgramBytes(const std::string& path);

    /// What of its frames can grow.
    std::vector<GrowableFrame> growable(std::span<const PlannedFunction> functions) const;
    /// Its calls of one function by another.
    ProgramCalls calls(std::span<const PlannedFunction> functions) const;
    /// Which of them align their stack.
    std::vector<AligningFunction> aligned(std::span<const PlannedFunction> functions) const;
    /// Which of them can be copied.
    std::vector<ClonableFunction> clonable(std::span<const PlannedFunction> functions) const;
    /// What code, data, relocations and dynamic symbols name: functions among these may be called
    /// by their addresses.
    std::unordered_set<std::uint64_t> named(std::span<const PlannedFunction> functions) const;
    /// Where in the file an address lies; throws Fatal where it does not.
    std::uint64_t offset_of(std::uint64_t address) const;

  private:
    /// Throws Malformed.
    CallFrames frames() const;
    /// Addresses of code that are taken, without numbers that only look like some.
    std::unordered_set<std::uint64_t> taken(std::span<const PlannedFunction> functions) const;
    void add_named(const NamedHeader& section, std::unordered_set<std::uint64_t>& found) const;
    /// By rising address.
    std::vector<std::uint64_t> pads() const;

    std::string path_;
    std::vector<std::byte> bytes_;
    std::unique_ptr<ElfTables> tables_;
    ProgramCode code_;
};

}  // namespace steelyard
