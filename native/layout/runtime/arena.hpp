// Keeps the address space for copies, within reach of the program's branches, and knows which
// generation owns each page.

#pragma once

#include <cstdint>

#include "generation.hpp"
#include "random.hpp"

namespace steelyard::layout {

/// The address space near the program that copies lie in, and whose each of its pages is.
class Arena {
  public:
    /// Takes a random place that branches reach the program from; false where there is none.
    bool reserve(const Program& program, Random& random);
    /// Gives the place back. Nobody may be in a copy.
    void give_back();
    /// Finds a random hole for a generation of so many pages and makes it writable; false where
    /// there is none.
    bool place(Generation& generation, std::uint64_t pages, Random& random);
    /// From now on addresses in the pages are the generation's.
    void own(Generation& generation);
    /// Gives back the pages of a generation on which no live copy lies; how many copies died.
    std::uint64_t free_dead_pages(Generation& generation);
    bool is_used_by(const Generation& generation) const;
    /// Whose an address is; null where nobody's. Safe in signal handlers.
    Generation* generation_at(std::uint64_t address) const;

    /// What the jumps of the originals and then of the labels lead to.
    std::uint64_t* slots() const { return slots_; }
    std::uint64_t used_pages() const { return used_pages_; }
    std::uint64_t most_used_pages() const { return most_used_pages_; }

  private:
    std::uint64_t find_hole(std::uint64_t pages, Random& random) const;
    void release(const Generation& generation, std::uint64_t low, std::uint64_t high);

    std::uint64_t start_ = 0, pages_ = 0, slot_bytes_ = 0;
    Generation** owners_ = nullptr;  ///< of each page
    std::uint64_t* slots_ = nullptr;
    std::uint64_t used_pages_ = 0, most_used_pages_ = 0;
};

}  // namespace steelyard::layout
