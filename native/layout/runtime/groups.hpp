// Draws the order in which the free objects of a chunk are given out: random, and yet friendly to
// prefetchers.

#pragma once

#include <cstddef>
#include <cstdint>

#include "chunks.hpp"
#include "random.hpp"

namespace steelyard::layout {

/// The order in which objects of one chunk are given to a program that builds something, the next
/// one last: by groups, and the objects of each group in random order (Fisher and Yates).
void order_by_groups(Random& random, std::size_t index, const Name* names, std::uint32_t many,
                     Name* into);

/// The same for a heap that keeps runs: pages in random order, and the objects of each in the order
/// of their addresses.
void order_by_pages(Random& random, std::size_t index, const Name* names, std::uint32_t many,
                    Name* into);

}  // namespace steelyard::layout
