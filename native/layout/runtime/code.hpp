#pragma once

#include <cstdint>

#include "program.hpp"
#include "random.hpp"

namespace steelyard::layout {

/// One set of copies of all functions, in an order and at places of its own.
struct Generation {
    std::uint32_t number;
    std::uint64_t low, high;   ///< its pages
    std::uint64_t* copies;     ///< address of each function's copy
    std::uint32_t* order;      ///< functions by address
    std::uint8_t* live;        ///< found on a stack in this round
    std::uint8_t* is_current;  ///< its branches lead to the newest copies
    std::uint64_t bookkeeping_bytes;
    Generation* older;
};

struct CodeCounts {
    std::uint64_t moves, freed, postponed, longest_move_ns, total_move_ns;
    std::uint64_t arena_pages, most_arena_pages;
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
    bool frees() const { return !keeps_; }
    void keep_copies() { keeps_ = true; }

  private:
    void reserve_arena();
    std::uint64_t find_hole(std::uint64_t pages);
    Generation* lay_copies();
    void draw_places(Generation& generation, std::uint64_t& bytes);
    void lay_copy(const Generation& generation, std::uint32_t index) const;
    void write_pads(const Generation& generation, std::uint32_t index);
    void redirect(const Generation& generation);
    void replace_originals();
    bool settle();
    bool bring_up_to_date();
    void patch(const Generation& generation, std::uint32_t index);
    void patch_copy(const Generation& generation, std::uint32_t index, std::uint8_t* into) const;
    void free_dead();
    void free_pages(Generation& generation);
    Generation* generation_at(std::uint64_t address) const;
    std::int64_t find_copy(const Generation& generation, std::uint64_t address) const;
    std::uint64_t original_address(std::uint32_t index) const;

    Random random_, pads_;
    std::uint64_t arena_ = 0, arena_pages_ = 0;
    Generation** owners_ = nullptr;  ///< of each page of the arena
    std::uint64_t* slots_ = nullptr;
    std::uint8_t* has_labels_ = nullptr;  ///< of each function
    Generation* newest_ = nullptr;
    std::uint32_t next_number_ = 0;
    bool keeps_ = false;
    CodeCounts counts_{};
};

Code& code();

}  // namespace steelyard::layout
