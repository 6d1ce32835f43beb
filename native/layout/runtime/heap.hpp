#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard::layout {

/// Whether this process's heap is shuffled; decided with the first allocation.
bool heap_is_shuffled();

void* heap_allocate(std::size_t size);
/// Says whether the memory is new from the kernel, and so all zeros.
void* heap_allocate_zeroed(std::size_t size, bool& is_zero);
/// `alignment` is a power of two.
void* heap_allocate_aligned(std::size_t alignment, std::size_t size);
void heap_free(void* object);
/// How many bytes an object has; 0 for what is not of this heap.
std::size_t heap_size(const void* object);
/// Makes a large object another size, moving its pages and no bytes; null where it is not one.
void* heap_resize_large(void* object, std::size_t size);

/// Around a fork, so that the child finds no lock taken.
void hold_heap();
void resume_heap();
void reset_heap_in_child();

}  // namespace steelyard::layout
