// The copies of one module's functions over time: lays new ones, redirects calls to them, and frees
// those that no thread can return to.

#pragma once

#include <cstdint>

#include "arena.hpp"
#include "code_file.hpp"
#include "generation.hpp"
#include "random.hpp"

namespace steelyard::layout {

/// The copies of the functions of the program, or of one shared library.
class Code {
  public:
    /// Reads the layout table of what the dynamic linker put at `image`. What is wrong, or null.
    const char* load(const Elf64_Ehdr* image, const char* path);
    /// Lays the first copies and turns the originals into jumps to the current ones. What is
    /// wrong, or null.
    ///
    /// `random` draws the order and places, where they are to be random, and `pads` the pads of
    /// frames.
    const char* start(Random random, Random pads);
    bool is_started() const { return newest_ != nullptr; }
    /// Gives everything back. Nobody may be in a copy.
    void stop();

    /// Lays new copies, which everything but old copies leads to from now on; false where there is
    /// no room.
    bool lay_anew();
    /// Forgets what was noted; with `waits` what the search before found lives through this one.
    void begin_round(bool waits);
    /// Notes that `address` was found on a stack or in a register; false where it is in no copy of
    /// these. Safe in signal handlers.
    bool note(std::uint64_t address);
    /// Lets the branches of live copies lead to the newest ones; whether there was one to change.
    bool bring_up_to_date();
    /// Frees the copies that were not found in the last round; how many.
    std::uint64_t free_dead();
    /// Whether an address is of what is remembered of copies.
    bool keeps_books_at(std::uint64_t address) const;

    /// Whether an address is in a copy of these.
    bool holds(std::uint64_t address) const { return arena_.generation_at(address) != nullptr; }
    /// The original of an address in a copy, and the distance to it; false where it is none.
    bool original(std::uint64_t address, std::uint64_t& found, std::uint64_t& distance) const;

    /// Where a frame whose address is `from` goes on, if it would go on at `wanted` were its copy
    /// as its original.
    std::uint64_t landing(std::uint64_t from, std::uint64_t wanted) const;

    const Program& program() const { return program_; }
    const Arena& arena() const { return arena_; }

  private:
    /// Null where there is no room.
    Generation* lay_copies();
    Generation* lay_generation(Generation* deep);
    /// The first of those that are not called any more.
    Generation*& old_ones() const;
    void patch(const Generation& generation, std::uint32_t index) const;

    Program program_;
    Random random_, pads_;
    Arena arena_;
    Generation* newest_ = nullptr;
};

}  // namespace steelyard::layout
