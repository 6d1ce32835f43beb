/// malloc and its family: the shuffled heap, or the C library's own where the heap is to stay.
///
/// All of it is weak and lies in an archive behind what the user links, so a malloc of the
/// program's own takes its place. What the program does not define is then the C library's, as
/// without us.
#include <dlfcn.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base.hpp"
#include "heap.hpp"
#include "large.hpp"
#include "size_classes.hpp"

#define STEELYARD_HOOK \
    extern "C" __attribute__((visibility("default"), section("steelyard_text"), used, weak))

// What the C library keeps behind the names that are taken here.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* object, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* object);
}

namespace steelyard::layout {

namespace {

constexpr std::size_t page_bytes = 4096;

void* or_no_memory(void* object) {
    if (object == nullptr)
        errno = ENOMEM;
    return object;
}

bool is_power_of_two(std::size_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

/// Whether the C library's heap is to be taken for now.
bool is_plain() {
    const Base base = heap_base();
    return base == Base::pending || (base == Base::own && !heap_is_shuffled());
}

/// Whether the shuffled heap over its own base is known to be the one: most calls ask no more.
bool is_shuffled_own() {
    return __builtin_expect(static_cast<long>(heap_state == 2 && base_state == own_base), 1) != 0;
}

/// From the shuffled heap; where its address space is full, from the C library's.
void* allocate_shuffled(std::size_t size) {
    void* object = heap_allocate(size);
    return __builtin_expect(static_cast<long>(object != nullptr), 1) != 0 ? object
                                                                          : __libc_malloc(size);
}

__attribute__((noinline)) void* allocate_elsewhere(std::size_t size) {
    if (heap_base() == Base::other)
        return or_no_memory(based_allocate(size));
    return is_plain() ? __libc_malloc(size) : allocate_shuffled(size);
}

void* allocate(std::size_t size) {
    return is_shuffled_own() ? allocate_shuffled(size) : allocate_elsewhere(size);
}

__attribute__((noinline)) void release_elsewhere(void* object) {
    const bool is_ours =
        heap_base() == Base::other ? based_free(object) : !is_plain() && heap_free(object);
    if (!is_ours)
        __libc_free(object);
}

void release(void* object) {
    if (!is_shuffled_own())
        return release_elsewhere(object);
    if (!heap_free(object))
        __libc_free(object);
}

void* aligned(std::size_t alignment, std::size_t size) {
    if (heap_base() == Base::other)
        return or_no_memory(based_allocate_aligned(alignment, size));
    if (is_plain())
        return __libc_memalign(alignment, size);
    void* object = heap_allocate_aligned(alignment, size);
    return object != nullptr ? object : __libc_memalign(alignment, size);
}

void* moved(void* object, std::size_t old_size, std::size_t size) {
    void* other = allocate(size);
    if (other == nullptr)
        return nullptr;
    std::memcpy(other, object, old_size < size ? old_size : size);
    release(object);
    return other;
}

}  // namespace

/// The names that tell whose malloc the program has; nobody else can define these.
extern "C" __attribute__((section("steelyard_text"))) void* steelyard_malloc(
    std::size_t size) noexcept {
    return allocate(size);
}

extern "C" __attribute__((section("steelyard_text"))) void steelyard_free(void* object) noexcept {
    if (object != nullptr)
        release(object);
}

extern "C" {
__attribute__((visibility("default"), used, weak, alias("steelyard_malloc"))) void* malloc(
    std::size_t size);
__attribute__((visibility("default"), used, weak, alias("steelyard_free"))) void free(void* object);
}

STEELYARD_HOOK void* calloc(std::size_t count, std::size_t size) {
    if (is_plain())
        return __libc_calloc(count, size);
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes))
        return or_no_memory(nullptr);
    bool is_zero = false;
    const bool is_based = heap_base() == Base::other;
    void* object =
        is_based ? based_allocate_zeroed(bytes, is_zero) : heap_allocate_zeroed(bytes, is_zero);
    if (object == nullptr)
        return is_based ? or_no_memory(nullptr) : __libc_calloc(count, size);
    if (!is_zero)
        std::memset(object, 0, bytes);
    return object;
}

STEELYARD_HOOK void* realloc(void* object, std::size_t size) {
    if (is_plain())
        return __libc_realloc(object, size);
    if (object == nullptr)
        return allocate(size);
    if (size == 0) {
        release(object);
        return nullptr;
    }
    const bool is_based = heap_base() == Base::other;
    const std::size_t old_size = is_based ? based_size(object) : heap_size(object);
    if (old_size == 0)
        return __libc_realloc(object, size);
    if (size <= old_size && size >= old_size / 2)
        return object;
    const bool both_large = old_size > largest_small_bytes && size > largest_small_bytes;
    void* resized = nullptr;
    if (is_based && both_large)
        resized = large_resize(object, size);
    else if (!is_based)
        resized = heap_resize_large(object, size);
    if (resized != nullptr)
        return resized;
    return moved(object, old_size, size);
}

STEELYARD_HOOK void* reallocarray(void* object, std::size_t count, std::size_t size) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes))
        return or_no_memory(nullptr);
    return realloc(object, bytes);
}

STEELYARD_HOOK void* memalign(std::size_t alignment, std::size_t size) {
    std::size_t power = sizeof(void*);
    while (power < alignment)
        power *= 2;
    return aligned(power, size);
}

STEELYARD_HOOK void* aligned_alloc(std::size_t alignment, std::size_t size) {
    if (!is_power_of_two(alignment)) {
        errno = EINVAL;
        return nullptr;
    }
    return aligned(alignment, size);
}

STEELYARD_HOOK int posix_memalign(void** object, std::size_t alignment, std::size_t size) {
    if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0)
        return EINVAL;
    const int before = errno;
    void* found = aligned(alignment, size);
    errno = before;
    if (found == nullptr)
        return ENOMEM;
    *object = found;
    return 0;
}

STEELYARD_HOOK void* valloc(std::size_t size) {
    return aligned(page_bytes, size);
}

STEELYARD_HOOK void* pvalloc(std::size_t size) {
    return aligned(page_bytes, (size + page_bytes - 1) / page_bytes * page_bytes);
}

STEELYARD_HOOK std::size_t malloc_usable_size(void* object) {
    if (object == nullptr)
        return 0;
    std::size_t size = 0;
    if (heap_base() == Base::other)
        size = based_size(object);
    else if (!is_plain())
        size = heap_size(object);
    if (size != 0)
        return size;
    using Size = std::size_t (*)(void*);
    static const auto next = reinterpret_cast<Size>(dlsym(RTLD_NEXT, "malloc_usable_size"));
    return next(object);
}

}  // namespace steelyard::layout
