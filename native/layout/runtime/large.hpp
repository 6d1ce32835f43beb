// Gives objects that are too large for a size class pages of their own, at a random distance from
// the start of these.

#pragma once

#include <cstddef>

namespace steelyard::layout {

class Random;

/// Objects that have pages of their own, at a random distance from their start.
void* large_allocate(Random& random, std::size_t alignment, std::size_t size, bool& is_zero);
void large_free(void* object);
void* large_resize(void* object, std::size_t size);
/// 0 where `object` is no large one.
std::size_t large_size(const void* object);
void hold_large();
void resume_large();
void reset_large();

}  // namespace steelyard::layout
