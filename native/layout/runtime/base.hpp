// Which allocator gives the objects that are shuffled, and the shuffling of those that the C
// library or another library gives.

#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard::layout {

/// What gives the objects that are shuffled.
enum class Base : std::uint32_t {
    unknown,
    own,      ///< heap.cpp's, or nothing is shuffled
    pending,  ///< another one, as soon as the dynamic linker can load it
    other,    ///< the C library's, or that of a library
};

extern constinit std::uint32_t base_state;  // a Base, read and written atomically
constexpr auto own_base = static_cast<std::uint32_t>(Base::own);
Base decide_base();
/// Whether the base is our own with the objects of a page in order.
bool base_keeps_runs();

/// Decided with the first allocation.
inline Base heap_base() {
    const auto known = static_cast<Base>(__atomic_load_n(&base_state, __ATOMIC_ACQUIRE));
    if (__builtin_expect(static_cast<long>(known == Base::unknown), 0) != 0)
        return decide_base();
    return known;
}

/// Loads the library that STEELYARD_LAYOUT_BASE names; ends the process where that cannot be.
void load_base();

void* based_allocate(std::size_t size);
/// Says whether the memory is new from the kernel, and so all zeros.
void* based_allocate_zeroed(std::size_t size, bool& is_zero);
/// `alignment` is a power of two.
void* based_allocate_aligned(std::size_t alignment, std::size_t size);
/// False where `object` is not of this heap.
bool based_free(void* object);
/// How many bytes an object has; 0 for what is not of this heap.
std::size_t based_size(const void* object);

/// Around a fork, so that the child finds no lock taken.
void hold_base();
void resume_base();
void reset_base_in_child();

}  // namespace steelyard::layout
