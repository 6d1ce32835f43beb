#include "heap.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <iterator>

#include "large.hpp"
#include "random.hpp"
#include "raw.hpp"
#include "settings.hpp"
#include "size_classes.hpp"

namespace steelyard::layout {

namespace {

// Objects are named by their distance from the start of the heap in granules, so that 32 bits do.
constexpr std::size_t largest_heap_bytes = granule_bytes << 32U;
constexpr std::size_t smallest_heap_bytes = 1U << 30U;
constexpr std::size_t unit_bytes = 64U << 10U;  // what belongs to one class
// A class grows by windows of this size, which hold each value of the index bits of the caches
// equally often: with other numbers of objects their addresses fail the tests of NIST SP 800-22.
constexpr std::size_t window_bytes = 256U << 10U;
constexpr std::size_t fewest_objects = 32;
constexpr std::uint64_t heap_stream = 3;
constexpr std::uint32_t drawn_at_once = 8;
// Of a program that frees little, neighbours in time stay within so much: what walks along its
// objects later would wait for memory at each of them.
constexpr std::size_t neighbourhood_bytes = 4096;
constexpr std::size_t most_neighbourhoods = 256;
constexpr std::size_t cache_line_bytes = 64;

constexpr std::size_t window_objects(std::size_t index) {
    const std::size_t objects = window_bytes / class_bytes(index);
    return objects < fewest_objects ? fewest_objects : objects;
}

constexpr std::size_t chunk_bytes(std::size_t index) {
    const std::size_t bytes = window_objects(index) * class_bytes(index);
    return (bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

using Name = std::uint32_t;

std::uint8_t* heap_start = nullptr;
std::size_t heap_bytes = 0;
std::size_t heap_used = 0;
std::uint8_t* unit_classes = nullptr;

template <typename T>
T* pages_for(std::size_t count) {
    return static_cast<T*>(map_pages(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE));
}

/// Objects of a class that no thread holds.
struct Central {
    Lock lock;
    Name* names = nullptr;
    std::size_t count = 0, capacity = 0;

    void put(const Name* from, std::size_t many) {
        const Guard guard(lock);
        if (count + many > capacity && !grow(count + many))
            return;  // lost to the program, as there is no memory to remember them by
        __builtin_memcpy(names + count, from, many * sizeof(Name));
        count += many;
    }
    std::size_t take(Name* into, std::size_t many) {
        if (__atomic_load_n(&count, __ATOMIC_RELAXED) == 0)
            return 0;
        const Guard guard(lock);
        many = many < count ? many : count;
        count -= many;
        __builtin_memcpy(into, names + count, many * sizeof(Name));
        return many;
    }

  private:
    bool grow(std::size_t wanted) {
        std::size_t bigger = capacity == 0 ? 4096 : capacity * 2;
        while (bigger < wanted)
            bigger *= 2;
        Name* place = pages_for<Name>(bigger);
        if (place == nullptr)
            return false;
        if (count != 0)
            __builtin_memcpy(place, names, count * sizeof(Name));
        if (names != nullptr)
            raw(SYS_munmap, word(names), static_cast<long>(capacity * sizeof(Name)));
        names = place;
        capacity = bigger;
        return true;
    }
};

/// A class in one thread: its free objects, and those of them that were drawn to be given next.
struct alignas(cache_line_bytes) ThreadClass {
    Name* free_names = nullptr;
    std::uint32_t free_count = 0, free_capacity = 0;
    std::uint32_t drawn_count = 0;
    Name drawn[drawn_at_once] = {};
    std::uint32_t given = 0;  ///< since the last chunk
    std::uint32_t unused_count = 0;
    Name* unused_names = nullptr;  ///< never given yet, the next one last
};

struct ThreadHeap {
    ThreadClass classes[class_count];
    ThreadHeap* next_unused = nullptr;
    Random random;
};

Central central[class_count];
Lock starting;
ThreadHeap* unused_heaps = nullptr;
std::uint32_t heaps_started = 0;
pthread_key_t ending_key;
__thread ThreadHeap* own_heap = nullptr;

/// A thread has ended: its heap, with all that it holds, is for the next one.
void leave_heap(void* left) {
    auto* heap = static_cast<ThreadHeap*>(left);
    own_heap = nullptr;
    const Guard guard(starting);
    heap->next_unused = unused_heaps;
    unused_heaps = heap;
}

bool reserve_heap() {
    for (std::size_t bytes = largest_heap_bytes; bytes >= smallest_heap_bytes; bytes /= 2) {
        // Aligned, so that transparent huge pages fit where the system gives them.
        constexpr std::size_t alignment = 2U << 20U;
        auto* place = pages_for<std::uint8_t>(bytes + alignment);
        if (place == nullptr)
            continue;
        const auto address = reinterpret_cast<std::uint64_t>(place);
        heap_start = reinterpret_cast<std::uint8_t*>((address + alignment - 1) & ~(alignment - 1));
        heap_bytes = bytes;
        // With huge pages the index bits of physical addresses are those that are drawn here.
        raw(SYS_madvise, word(heap_start), static_cast<long>(bytes), MADV_HUGEPAGE);
        unit_classes = pages_for<std::uint8_t>(bytes / unit_bytes);
        return unit_classes != nullptr;
    }
    return false;
}

__attribute__((noinline)) ThreadHeap* enter_heap() {
    ThreadHeap* heap = nullptr;
    {
        const Guard guard(starting);
        heap = unused_heaps;
        if (heap != nullptr) {
            unused_heaps = heap->next_unused;
        } else {
            heap = pages_for<ThreadHeap>(1);
            if (heap == nullptr)
                return nullptr;
            heap->random = Random(settings().seed ^ (heap_stream << 56U) ^
                                  (std::uint64_t{heaps_started++} << 32U));
        }
    }
    own_heap = heap;
    pthread_setspecific(ending_key, heap);  // may allocate, from this very heap
    return heap;
}

ThreadHeap* thread_heap() {
    ThreadHeap* heap = own_heap;
    return heap != nullptr ? heap : enter_heap();
}

/// A chunk for a class, which is whole windows; its first object.
bool take_chunk(std::size_t index, Name& first) {
    const std::size_t bytes = chunk_bytes(index);
    const std::size_t place = __atomic_fetch_add(&heap_used, bytes, __ATOMIC_RELAXED);
    if (place + bytes > heap_bytes)
        return false;
    for (std::size_t unit = place / unit_bytes; unit < (place + bytes) / unit_bytes; ++unit)
        unit_classes[unit] = static_cast<std::uint8_t>(index);
    first = static_cast<Name>(place / granule_bytes);
    return true;
}

constexpr std::uint32_t chunk_objects(std::size_t index) {
    return static_cast<std::uint32_t>(chunk_bytes(index) / class_bytes(index));
}

constexpr std::uint32_t neighbours(std::size_t index) {
    const std::size_t objects = neighbourhood_bytes / class_bytes(index);
    return objects == 0 ? 1 : static_cast<std::uint32_t>(objects);
}

constexpr bool neighbourhoods_are_few() {
    for (std::size_t index = 0; index < class_count; ++index) {
        if (chunk_objects(index) / neighbours(index) >= most_neighbourhoods)
            return false;
    }
    return true;
}
static_assert(neighbourhoods_are_few());

/// Fills the free objects of a class, of which any may be given next.
void add_free(ThreadClass& of, std::size_t index, Name first) {
    const auto step = static_cast<Name>(class_bytes(index) / granule_bytes);
    for (std::uint32_t at = 0; at < chunk_objects(index); ++at)
        of.free_names[of.free_count++] = first + at * step;
}

/// Fills those that are given before any other: neighbourhoods in random order, and their objects
/// in random order (the inside-out shuffle of Durstenfeld, 1964).
void add_unused(Random& random, ThreadClass& of, std::size_t index, Name first) {
    const auto step = static_cast<Name>(class_bytes(index) / granule_bytes);
    const std::uint32_t objects = chunk_objects(index) / drawn_at_once * drawn_at_once;
    for (std::uint32_t at = objects; at < chunk_objects(index); ++at)
        of.free_names[of.free_count++] = first + at * step;
    const std::uint32_t size = neighbours(index);
    std::uint32_t starts[most_neighbourhoods];
    std::uint32_t count = 0;
    for (std::uint32_t start = 0; start < objects; start += size) {
        const std::uint32_t other = random.below(++count);
        starts[count - 1] = starts[other];
        starts[other] = start;
    }
    for (std::uint32_t at = 0; at < count; ++at) {
        Name* names = of.unused_names + of.unused_count;
        for (std::uint32_t inside = 0; inside < size && starts[at] + inside < objects; ++inside) {
            const std::uint32_t other = random.below(inside + 1);
            names[inside] = names[other];
            names[other] = first + (starts[at] + inside) * step;
            ++of.unused_count;
        }
    }
}

std::uint8_t* object_of(Name name) {
    return heap_start + static_cast<std::size_t>(name) * granule_bytes;
}

/// Takes a random one of the free objects: a step of the Fisher-Yates shuffle over all of them.
Name draw(ThreadHeap& heap, ThreadClass& of) {
    Name& place = of.free_names[heap.random.below(of.free_count)];
    const Name drawn = place;
    place = of.free_names[--of.free_count];
    return drawn;
}

bool prepare(ThreadClass& of, std::size_t index) {
    const std::uint32_t objects = chunk_objects(index);
    of.free_names = pages_for<Name>(std::size_t{objects} * 3);
    if (of.free_names == nullptr)
        return false;
    of.free_capacity = objects * 2;
    of.unused_names = of.free_names + of.free_capacity;
    of.given = of.free_capacity;  // nothing is known of the program yet
    return true;
}

/// Makes sure that there are objects to draw from: where a quarter of a window is left, what other
/// threads freed comes in, or a chunk.
bool refill(ThreadHeap& heap, ThreadClass& of, std::size_t index) {
    const std::uint32_t objects = chunk_objects(index);
    of.free_count +=
        static_cast<std::uint32_t>(central[index].take(of.free_names + of.free_count, objects));
    if (of.free_count >= objects / 4)
        return true;
    Name first = 0;
    if (!take_chunk(index, first))
        return of.free_count >= drawn_at_once;
    const bool frees_little = of.given < objects + objects / 2;
    if (frees_little)
        add_unused(heap.random, of, index, first);
    else
        add_free(of, index, first);
    of.given = 0;
    return true;
}

/// Draws the objects that are given next, so that they are in the cache by then: one at random
/// hardly ever is. All are asked for at once, and so come in the time of one.
__attribute__((noinline)) bool draw_ahead(ThreadHeap& heap, std::size_t index) {
    ThreadClass& of = heap.classes[index];
    if (of.free_capacity == 0 && !prepare(of, index))
        return false;
    if (of.unused_count == 0 && of.free_count < chunk_objects(index) / 4 &&
        !refill(heap, of, index))
        return false;
    of.given += drawn_at_once;
    for (Name& drawn : of.drawn) {
        drawn = of.unused_count != 0 ? of.unused_names[--of.unused_count] : draw(heap, of);
        const std::uint8_t* object = object_of(drawn);
        __builtin_prefetch(object, 1);
        __builtin_prefetch(object + cache_line_bytes, 1);
    }
    of.drawn_count = drawn_at_once;
    return true;
}

void* small_allocate(std::size_t index) {
    ThreadHeap* heap = thread_heap();
    if (__builtin_expect(static_cast<long>(heap == nullptr), 0) != 0)
        return nullptr;
    ThreadClass& of = heap->classes[index];
    if (__builtin_expect(static_cast<long>(of.drawn_count == 0), 0) != 0 &&
        !draw_ahead(*heap, index))
        return nullptr;
    return object_of(of.drawn[--of.drawn_count]);
}

bool is_small(const void* object) {
    return static_cast<std::size_t>(static_cast<const std::uint8_t*>(object) - heap_start) <
           heap_bytes;
}

std::size_t class_of(const void* object) {
    const auto inside =
        static_cast<std::size_t>(static_cast<const std::uint8_t*>(object) - heap_start);
    return unit_classes[inside / unit_bytes];
}

/// Makes room for freed objects: random ones go to all threads.
__attribute__((noinline)) bool make_room(ThreadHeap& heap, std::size_t index) {
    ThreadClass& of = heap.classes[index];
    if (of.free_capacity == 0)
        return prepare(of, index);
    Name leaving[256];
    for (std::uint32_t left = of.free_capacity / 4; left != 0;) {
        std::uint32_t many = 0;
        for (; many < std::size(leaving) && left != 0; ++many, --left)
            leaving[many] = draw(heap, of);
        central[index].put(leaving, many);
    }
    return true;
}

void small_free(void* object) {
    const std::size_t index = class_of(object);
    ThreadHeap* heap = thread_heap();
    if (heap == nullptr)
        return;
    ThreadClass& of = heap->classes[index];
    if (__builtin_expect(static_cast<long>(of.free_count == of.free_capacity), 0) != 0 &&
        !make_room(*heap, index))
        return;
    of.free_names[of.free_count++] = static_cast<Name>(
        static_cast<std::size_t>(static_cast<std::uint8_t*>(object) - heap_start) / granule_bytes);
}

}  // namespace

constinit std::uint32_t heap_state = 0;

std::uint32_t decide_heap() {
    const Guard guard(starting);
    if (heap_state != 0)
        return heap_state;
    load_defaults();
    const bool wanted = settings().has(part_heap);
    if (wanted && !reserve_heap())
        fail("there is no address space for the heap");
    if (wanted)
        pthread_key_create(&ending_key, leave_heap);
    __atomic_store_n(&heap_state, wanted ? 2 : 1, __ATOMIC_RELEASE);
    return heap_state;
}

void* heap_allocate(std::size_t size) {
    if (__builtin_expect(static_cast<long>(size <= largest_small_bytes), 1) != 0)
        return small_allocate(class_for(size));
    return heap_allocate_aligned(granule_bytes, size);
}

void* heap_allocate_zeroed(std::size_t size, bool& is_zero) {
    is_zero = false;
    if (size <= largest_small_bytes)
        return small_allocate(class_for(size));
    ThreadHeap* heap = thread_heap();
    return heap == nullptr ? nullptr : large_allocate(heap->random, granule_bytes, size, is_zero);
}

void* heap_allocate_aligned(std::size_t alignment, std::size_t size) {
    if (alignment <= granule_bytes && size <= largest_small_bytes)
        return small_allocate(class_for(size));
    if (alignment <= largest_small_bytes && size <= largest_small_bytes) {
        // Powers of two are classes, and lie on multiples of themselves.
        std::size_t power = alignment;
        while (power < size)
            power *= 2;
        return small_allocate(class_for(power));
    }
    ThreadHeap* heap = thread_heap();
    bool is_zero = false;
    return heap == nullptr ? nullptr : large_allocate(heap->random, alignment, size, is_zero);
}

bool heap_free(void* object) {
    if (__builtin_expect(static_cast<long>(is_small(object)), 1) != 0) {
        small_free(object);
        return true;
    }
    if (large_size(object) == 0)
        return false;
    large_free(object);
    return true;
}

std::size_t heap_size(const void* object) {
    return is_small(object) ? class_bytes(class_of(object)) : large_size(object);
}

void* heap_resize_large(void* object, std::size_t size) {
    const bool both_large = !is_small(object) && size > largest_small_bytes;
    return both_large ? large_resize(object, size) : nullptr;
}

void hold_heap() {
    starting.take();
    for (Central& each : central)
        each.lock.take();
    hold_large();
}

void resume_heap() {
    resume_large();
    for (Central& each : central)
        each.lock.give();
    starting.give();
}

void reset_heap_in_child() {
    reset_large();
    for (Central& each : central)
        each.lock.reset();
    starting.reset();
}

}  // namespace steelyard::layout
