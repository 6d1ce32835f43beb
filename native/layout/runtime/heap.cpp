#include "heap.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <array>

#include "base.hpp"
#include "chunks.hpp"
#include "large.hpp"
#include "page_order.hpp"
#include "random.hpp"
#include "raw.hpp"
#include "settings.hpp"
#include "size_classes.hpp"

namespace steelyard::layout {

namespace {

constexpr std::uint64_t heap_stream = 3;
constexpr std::uint32_t drawn_at_once = 8;

/// Large objects are no sooner in the cache for being drawn ahead, and there are few in a set.
constexpr std::uint32_t draws_of(std::size_t index) {
    return class_bytes(index) < large_from_bytes ? drawn_at_once : 1;
}

/// A class in one thread: its free objects, and those of them that were drawn to be given next.
struct alignas(cache_line_bytes) ThreadClass {
    Name* free_names = nullptr;
    std::uint32_t free_count = 0, free_capacity = 0;
    std::uint32_t drawn_count = 0;
    Name drawn[drawn_at_once] = {};
    std::uint32_t ordered_count = 0;
    Name* ordered_names = nullptr;  ///< to be given before any other, the next one last
    // Since the last look at what the program does:
    std::uint32_t given = 0, given_of_set = 0;
    std::uint32_t free_before = 0;  ///< `free_count` then, less what was given to all threads since

    /// How many objects were freed since the last look.
    std::uint32_t freed() const { return free_count + given_of_set - free_before; }
    void look() {
        given = given_of_set = 0;
        free_before = free_count;
    }
};

/// Where the free objects of first chunks are noted, by class; behind the last, how many in all.
constexpr auto first_places = [] {
    std::array<std::uint32_t, class_count + 1> places{};
    for (std::size_t index = 0; index < class_count; ++index)
        places[index + 1] = places[index] + first_objects(index);
    return places;
}();

// After so many objects a class gets a window; those of a page and more when as many are in use.
constexpr std::uint32_t most_given_small = 32, most_given_medium = 256;
constexpr std::size_t medium_from_bytes = 256, in_use_from_bytes = 1024;

constexpr bool has_given_enough(std::size_t index, std::uint32_t given) {
    const std::size_t bytes = class_bytes(index);
    return bytes <= in_use_from_bytes &&
           given >= (bytes < medium_from_bytes ? most_given_small : most_given_medium);
}

struct ThreadHeap {
    ThreadClass classes[all_classes];
    ThreadHeap* next_unused = nullptr;
    Random random;
    Name first_names[first_places[class_count]];
};

Lock starting;
ThreadHeap* unused_heaps = nullptr;
std::uint32_t heaps_started = 0;
pthread_key_t ending_key;
__thread ThreadHeap* own_heap = nullptr;
bool keeps_runs = false;  ///< objects of a page are given in the order of their addresses

/// A thread has ended: its heap, with all that it holds, is for the next one.
void leave_heap(void* left) {
    auto* heap = static_cast<ThreadHeap*>(left);
    own_heap = nullptr;
    const Guard guard(starting);
    heap->next_unused = unused_heaps;
    unused_heaps = heap;
}

__attribute__((noinline)) ThreadHeap* enter_heap() {
    ThreadHeap* heap = nullptr;
    {
        const Guard guard(starting);
        heap = unused_heaps;
        if (heap != nullptr) {
            unused_heaps = heap->next_unused;
        } else {
            heap = static_cast<ThreadHeap*>(take_books(sizeof(ThreadHeap)));
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

/// Lets the last `many` free objects, all of one chunk, be given before any other, where there is
/// memory to note them.
void give_first(Random& random, ThreadClass& of, std::size_t index, std::uint32_t many) {
    if (of.ordered_names == nullptr)
        of.ordered_names = static_cast<Name*>(take_books(chunk_objects(index) * sizeof(Name)));
    if (of.ordered_names == nullptr)
        return;
    many = many / draws_of(index) * draws_of(index);
    of.free_count -= many;
    order_by_pages(random, index, of.free_names + of.free_count, many,
                   keeps_runs ? PageStart::lowest : PageStart::drawn, of.ordered_names);
    of.ordered_count = many;
}

/// Takes a random one of the free objects: a step of the Fisher-Yates shuffle over all of them.
Name draw(ThreadHeap& heap, ThreadClass& of) {
    Name& place = of.free_names[heap.random.below(of.free_count)];
    const Name drawn = place;
    place = of.free_names[--of.free_count];
    return drawn;
}

/// Room for free objects, first of all.
bool prepare(ThreadClass& of, std::size_t index) {
    const std::uint32_t objects = chunk_objects(index);
    const std::uint32_t capacity = objects + objects / 4;
    of.free_names = static_cast<Name*>(take_books(capacity * sizeof(Name)));
    if (of.free_names == nullptr)
        return false;
    of.free_capacity = capacity;
    return true;
}

/// Gives the last of the free objects to all threads: those, if any, that were freed together.
void give_up(ThreadClass& of, std::size_t index, std::uint32_t many) {
    of.free_count -= many;
    of.free_before -= many;
    give_free(index, of.free_names + of.free_count, many);
}

/// Adds the objects of a chunk to the free ones.
void add_objects(ThreadClass& of, std::size_t index, Name first, std::uint32_t objects) {
    const auto step = static_cast<Name>(class_bytes(index) / granule_bytes);
    const auto [run_objects, gap_bytes] = spacing(index);
    const auto gap = static_cast<Name>(gap_bytes / granule_bytes);
    Name* into = of.free_names + of.free_count;
    Name next = first;
    for (std::uint32_t left = objects; left != 0; next += gap) {
        const std::uint32_t run = left < run_objects ? left : run_objects;
        left -= run;
        for (const Name* end = into + run; into != end; next += step)
            *into++ = next;
    }
    of.free_count += objects;
}

/// Adds a window; how many objects it has, 0 where there is no memory.
std::uint32_t add_chunk(ThreadClass& of, std::size_t index) {
    Name first = 0;
    if (!take_chunk(index, first))
        return 0;
    add_objects(of, index, first, chunk_objects(index));
    return chunk_objects(index);
}

void prepare_first(ThreadHeap& heap, std::size_t index) {
    ThreadClass& of = heap.classes[first_class(index)];
    of.free_names = heap.first_names + first_places[index];
    of.free_capacity = first_objects(index);
}

/// The free objects of the first chunk; null where there is none, or the class is to get a window.
ThreadClass* first_chunk(ThreadHeap& heap, std::size_t index) {
    ThreadClass& of = heap.classes[first_class(index)];
    if (of.free_capacity == 0) {
        prepare_first(heap, index);
        Name first = 0;
        if (take_first_chunk(index, heap.random, first))
            add_objects(of, index, first, first_objects(index));
        of.look();
    }
    return has_given_enough(index, of.given) || of.free_count < draws_of(index) ? nullptr : &of;
}

/// Looks what the program did lately, and makes sure that there are objects to draw from. While it
/// builds something, whole windows in the order of `give_first` are; while it frees about as much,
/// the set, with at least a quarter of a window. A heap that keeps runs gives windows alone.
bool refill(ThreadHeap& heap, ThreadClass& of, std::size_t index) {
    const std::uint32_t objects = chunk_objects(index);
    // Of its first window nothing is known yet, and that is drawn from all over.
    const bool builds = of.freed() < of.given / 4 * 3;
    if (builds || keeps_runs) {
        give_up(of, index, of.free_count);
        auto added = static_cast<std::uint32_t>(take_window(index, of.free_names, objects));
        of.free_count = added;
        if (added == 0)
            added = add_chunk(of, index);
        if (added != 0)
            give_first(heap.random, of, index, added);
    }
    if (of.ordered_count == 0 && of.free_count < objects / 4) {
        of.free_count +=
            static_cast<std::uint32_t>(take_free(index, of.free_names + of.free_count, objects));
        if (of.free_count < objects / 4)
            add_chunk(of, index);
    }
    of.look();
    return of.ordered_count != 0 || of.free_count >= draws_of(index);
}

/// Draws from one set what another gives next.
void draw_some(ThreadHeap& heap, ThreadClass& from, ThreadClass& of, std::size_t index) {
    const bool is_ordered = from.ordered_count != 0;
    const std::uint32_t many = draws_of(index);
    from.given += many;
    from.given_of_set += is_ordered ? 0 : many;
    const std::size_t last = class_bytes(index) - 1;
    const std::size_t second_line = last < cache_line_bytes ? last : cache_line_bytes;
    for (std::uint32_t at = many; at-- > 0;) {  // the last is given first
        const Name drawn = is_ordered ? from.ordered_names[--from.ordered_count] : draw(heap, from);
        of.drawn[at] = drawn;
        const std::uint8_t* object = object_of(drawn);
        __builtin_prefetch(object, 1);
        __builtin_prefetch(object + second_line, 1);
    }
    of.drawn_count = many;
}

/// Draws the objects that are given next, so that they are in the cache by then: one at random
/// hardly ever is. All are asked for at once, and so come in the time of one.
__attribute__((noinline)) bool draw_ahead(ThreadHeap& heap, std::size_t index) {
    ThreadClass& of = heap.classes[index];
    if (of.free_capacity == 0) {
        if (ThreadClass* first = keeps_runs ? nullptr : first_chunk(heap, index)) {
            draw_some(heap, *first, of, index);
            return true;
        }
        if (!prepare(of, index))
            return false;
    }
    const std::uint32_t quarter = chunk_objects(index) / 4;
    const bool looks = of.free_count < quarter || of.given >= quarter;
    if (of.ordered_count == 0 && looks && !refill(heap, of, index))
        return false;
    draw_some(heap, of, of, index);
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

/// Makes room for freed objects: the last ones, which are of few chunks, go to all threads.
__attribute__((noinline)) bool make_room(ThreadHeap& heap, std::size_t index) {
    ThreadClass& of = heap.classes[index];
    if (of.free_capacity == 0 && index < class_count)
        return prepare(of, index);
    if (of.free_capacity == 0) {
        prepare_first(heap, index - class_count);
        return true;
    }
    give_up(of, index, of.free_capacity / 2);
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
    of.free_names[of.free_count++] = name_of(object);
}

}  // namespace

constinit std::uint32_t heap_state = 0;

std::uint32_t decide_heap() {
    const Guard guard(starting);
    if (heap_state != 0)
        return heap_state;
    load_defaults();
    const bool wanted = settings().has(part_heap);
    if (wanted && !reserve_chunks())
        fail("there is no address space for the heap");
    keeps_runs = base_keeps_runs();
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
    if (alignment <= largest_small_bytes && size <= largest_small_bytes)
        return small_allocate(aligned_class_for(alignment, size));
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
    return is_small(object) ? bytes_of(object) : large_size(object);
}

void* heap_resize_large(void* object, std::size_t size) {
    const bool both_large = !is_small(object) && size > largest_small_bytes;
    return both_large ? large_resize(object, size) : nullptr;
}

void hold_heap() {
    starting.take();
    hold_chunks();
    hold_large();
}

void resume_heap() {
    resume_large();
    resume_chunks();
    starting.give();
}

void reset_heap_in_child() {
    reset_large();
    reset_chunks();
    starting.reset();
}

}  // namespace steelyard::layout
