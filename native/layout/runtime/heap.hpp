// The shuffled heap: gives out objects at random addresses, for malloc.cpp and what is preloaded.

#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard::layout {

/// 0: not known yet, 1: the C library's heap, 2: shuffled.
extern constinit std::uint32_t heap_state;
std::uint32_t decide_heap();

/// Whether this process's heap is shuffled; decided with the first allocation.
inline bool heap_is_shuffled() {
    std::uint32_t known = __atomic_load_n(&heap_state, __ATOMIC_ACQUIRE);
    if (__builtin_expect(static_cast<long>(known == 0), 0) != 0)
        known = decide_heap();
    return known == 2;
}

void* heap_allocate(std::size_t size);
/// Says whether the memory is new from the kernel, and so all zeros.
void* heap_allocate_zeroed(std::size_t size, bool& is_zero);
/// `alignment` is a power of two.
void* heap_allocate_aligned(std::size_t alignment, std::size_t size);
/// False where `object` is not of this heap.
bool heap_free(void* object);
/// How many bytes an object has; 0 for what is not of this heap.
std::size_t heap_size(const void* object);
/// Makes a large object another size, moving its pages and no bytes; null where it is not one.
void* heap_resize_large(void* object, std::size_t size);

/// Around a fork, so that the child finds no lock taken.
void hold_heap();
void resume_heap();
void reset_heap_in_child();

}  // namespace steelyard::layout
