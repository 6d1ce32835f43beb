#include "heap.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

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
// Each class chooses among objects that cover the index bits of the caches: a window of this size,
// as the address bits of fewer fail the tests of NIST SP 800-22 (docs/layout.md).
constexpr std::size_t window_bytes = 256U << 10U;
constexpr std::size_t fewest_objects = 32;
constexpr std::uint64_t heap_stream = 3;
constexpr std::uint32_t chosen_ahead = 4;
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

/// A class in one thread: the shuffled objects, and the base below them, which gives the object
/// that was freed last, or the next of a chunk that was never used.
struct ThreadClass {
    Name* shuffled = nullptr;
    std::uint32_t objects = 0;
    std::uint32_t next[chosen_ahead] = {};  ///< which of the shuffled objects are given next
    std::uint32_t turn = 0;
    std::uint32_t free_count = 0, free_capacity = 0;
    Name* free_names = nullptr;
    Name fresh = 0, fresh_end = 0;
};

struct ThreadHeap {
    Random random;
    ThreadClass classes[class_count];
    ThreadHeap* next_unused = nullptr;
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

/// Takes a new chunk for a class; its objects are fresh.
bool take_chunk(ThreadClass& of, std::size_t index) {
    const std::size_t bytes = chunk_bytes(index);
    const std::size_t place = __atomic_fetch_add(&heap_used, bytes, __ATOMIC_RELAXED);
    if (place + bytes > heap_bytes)
        return false;
    for (std::size_t unit = place / unit_bytes; unit < (place + bytes) / unit_bytes; ++unit)
        unit_classes[unit] = static_cast<std::uint8_t>(index);
    of.fresh = static_cast<Name>(place / granule_bytes);
    const std::size_t objects = bytes / class_bytes(index);
    of.fresh_end = of.fresh + static_cast<Name>(objects * (class_bytes(index) / granule_bytes));
    return true;
}

/// What freed objects of other threads there are, or a new chunk.
__attribute__((noinline)) bool refill(ThreadClass& of, std::size_t index) {
    of.free_count =
        static_cast<std::uint32_t>(central[index].take(of.free_names, of.free_capacity / 2));
    return of.free_count != 0 || take_chunk(of, index);
}

bool take_from_base(ThreadClass& of, std::size_t index, Name& found) {
    if (of.free_count == 0 && of.fresh == of.fresh_end && !refill(of, index))
        return false;
    if (of.free_count != 0) {
        found = of.free_names[--of.free_count];
        return true;
    }
    found = of.fresh;
    of.fresh += static_cast<Name>(class_bytes(index) / granule_bytes);
    return true;
}

std::uint8_t* object_of(Name name) {
    return heap_start + static_cast<std::size_t>(name) * granule_bytes;
}

/// Chooses an object that is given a few allocations later, so that it is in the cache by then: one
/// at random hardly ever is.
void choose_ahead(ThreadHeap& heap, ThreadClass& of, std::uint32_t turn) {
    const std::uint32_t chosen = heap.random.below(of.objects);
    of.next[turn] = chosen;
    const std::uint8_t* object = object_of(of.shuffled[chosen]);
    __builtin_prefetch(object, 1);
    __builtin_prefetch(object + cache_line_bytes, 1);
}

/// Fills the shuffled objects of a class: the inside-out Fisher-Yates shuffle (Durstenfeld, 1964).
__attribute__((noinline)) bool prepare(ThreadHeap& heap, std::size_t index) {
    ThreadClass& of = heap.classes[index];
    const auto objects = static_cast<std::uint32_t>(window_objects(index));
    Name* place = pages_for<Name>(objects * 2);
    if (place == nullptr)
        return false;
    of.free_names = place + objects;
    of.free_capacity = objects;
    for (std::uint32_t at = 0; at < objects; ++at) {
        Name found = 0;
        if (!take_from_base(of, index, found))
            return false;
        const std::uint32_t other = heap.random.below(at + 1);
        place[at] = place[other];
        place[other] = found;
    }
    of.shuffled = place;
    of.objects = objects;
    for (std::uint32_t turn = 0; turn < chosen_ahead; ++turn)
        choose_ahead(heap, of, turn);
    return true;
}

void* small_allocate(std::size_t index) {
    ThreadHeap* heap = thread_heap();
    if (__builtin_expect(static_cast<long>(heap == nullptr), 0) != 0)
        return nullptr;
    ThreadClass& of = heap->classes[index];
    Name found = 0;
    if (__builtin_expect(static_cast<long>(of.objects == 0), 0) != 0 && !prepare(*heap, index))
        return nullptr;
    if (!take_from_base(of, index, found))
        return nullptr;
    const std::uint32_t turn = of.turn;
    of.turn = (turn + 1) % chosen_ahead;
    Name& chosen = of.shuffled[of.next[turn]];
    const Name given = chosen;
    chosen = found;
    choose_ahead(*heap, of, turn);
    return object_of(given);
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

__attribute__((noinline)) void flush(ThreadClass& of, std::size_t index) {
    const std::uint32_t half = of.free_capacity / 2;
    central[index].put(of.free_names, half);
    of.free_count -= half;
    __builtin_memmove(of.free_names, of.free_names + half, of.free_count * sizeof(Name));
}

void small_free(void* object) {
    const std::size_t index = class_of(object);
    ThreadHeap* heap = thread_heap();
    if (heap == nullptr)
        return;
    ThreadClass& of = heap->classes[index];
    if (__builtin_expect(static_cast<long>(of.objects == 0), 0) != 0 && !prepare(*heap, index))
        return;
    Name& chosen = of.shuffled[heap->random.below(of.objects)];
    const Name freed = chosen;
    chosen = static_cast<Name>(
        static_cast<std::size_t>(static_cast<std::uint8_t*>(object) - heap_start) / granule_bytes);
    if (of.free_count == of.free_capacity)
        flush(of, index);
    of.free_names[of.free_count++] = freed;
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
