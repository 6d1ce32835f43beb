#pragma once

#include <cstdint>

#include "arena.hpp"
#include "generation.hpp"
#include "random.hpp"

namespace steelyard::layout {

struct CodeCounts {
    std::uint64_t moves, freed, postponed, longest_move_ns, total_move_ns;
};

/// The copies of the program's functions.
class Code {
  public:
    /// Lays the first copies and turns the originals into jumps to the current ones.
    ///
    /// `random` draws the order and places, where they are to be random, and `pads` the pads of
    /// frames.
    void start(Random random, Random pads);
    bool is_started() const { return newest_ != nullptr; }
    /// Lays new copies and lets every thread enter them; frees those that no thread can return to.
    void move();

    /// Notes that `address` was found on a stack or in a register. Safe in signal handlers.
    void note(std::uint64_t address);
    /// The original of an address in a copy, and the distance to it; false where it is none.
    bool original(std::uint64_t address, std::uint64_t& found, std::uint64_t& distance) const;

    const CodeCounts& counts() const { return counts_; }
    const Arena& arena() const { return arena_; }
    bool frees() const { return !keeps_; }
    void keep_copies() { keeps_ = true; }

  private:
    Generation* lay_copies();
    bool settle();
    bool bring_up_to_date();
    void patch(const Generation& generation, std::uint32_t index) const;
    void free_dead();

    Random random_, pads_;
    Arena arena_;
    Generation* newest_ = nullptr;
    std::uint32_t next_number_ = 0;
    bool keeps_ = false;
    CodeCounts counts_{};
};

Code& code();

}  // namespace steelyard::layout
