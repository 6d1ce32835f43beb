// Draws the order in which the free objects of a chunk are given out: random, and yet friendly to
// prefetchers.

#pragma once

#include <cstddef>
#include <cstdint>

#include "chunks.hpp"
#include "random.hpp"

namespace steelyard::layout {

/// Which object of a page is given before the others: its lowest, or whichever follows a place that
/// is drawn, so that the index bits within a page are random too where it begins.
enum class PageStart { lowest, drawn };

/// The order in which objects of one chunk are given to a program that builds something, the next
/// one last: pages in random order (Fisher and Yates), and the objects of each in the order of
/// their addresses, round and round. What walks along them later would else wait for memory at
/// each, as the prefetchers of caches see no order in random lines.
void order_by_pages(Random& random, std::size_t index, const Name* names, std::uint32_t many,
                    PageStart start, Name* into);

}  // namespace steelyard::layout
