// The bytes of a program, by the addresses that it gives them.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "direct_calls.hpp"
#include "elf_tables.hpp"
#include "growable_frames.hpp"

namespace steelyard {

class ProgramBytes {
  public:
    /// Throws Fatal where it cannot be read.
    explicit ProgramBytes(const std::string& path);

    /// What of its frames can grow.
    std::vector<GrowableFrame> growable(std::span<const PlannedFunction> functions) const;
    /// Its calls of one function by another.
    ProgramCalls calls(std::span<const PlannedFunction> functions) const;
    /// What code, data, relocations and dynamic symbols name: functions among these may be called
    /// by their addresses.
    std::unordered_set<std::uint64_t> named(std::span<const PlannedFunction> functions) const;
    /// Where in the file an address lies; throws Fatal where it does not.
    std::uint64_t offset_of(std::uint64_t address) const;

  private:
    CodeBytes text() const;
    /// Throws Malformed.
    CallFrames frames() const;
    void add_named(const NamedHeader& section, std::unordered_set<std::uint64_t>& found) const;
    /// By rising address.
    std::vector<std::uint64_t> pads() const;

    std::string path_;
    std::vector<std::byte> bytes_;
    std::unique_ptr<ElfTables> tables_;
};

}  // namespace steelyard
