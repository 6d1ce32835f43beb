#include "chunks.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>

#include "raw.hpp"

namespace steelyard::layout {

constinit std::uint8_t* heap_start = nullptr;
constinit std::size_t heap_bytes = 0;
constinit std::uint8_t* unit_classes = nullptr;

namespace {

constexpr std::size_t largest_heap_bytes = granule_bytes << 32U;
constexpr std::size_t smallest_heap_bytes = 32U << 20U;
// Of an address space that is limited (`ulimit -v`) the heap takes a quarter: large objects, stacks
// and libraries need room as well. What does not fit is the C library's.
constexpr std::size_t share_of_limit = 4;
// The kernel puts it right below the libraries; branches reach 2 GiB from them.
constexpr std::size_t room_for_copies_bytes = 4ULL << 30U;

constexpr std::size_t fewest_taken = 8;

// First chunks lie here. Those of one unit, which are those of small objects, share huge pages, one
// after the other: the kernel gives one in the time of some 25 small ones. The others lie behind
// them by small pages, so that few large objects take no more than they touch. The first huge page
// has the first windows besides, so that a small heap takes no more than this page.
constexpr std::size_t first_chunks_bytes = 16U << 20U, huge_page_bytes = 2U << 20U;
constexpr std::size_t huge_first_bytes = 8U << 20U;
constexpr auto units_a_huge_page = static_cast<std::uint32_t>(huge_page_bytes / unit_bytes);
constexpr std::size_t front_bytes = 768U << 10U;  ///< of the first huge page, before windows
constexpr auto front_units = static_cast<std::uint32_t>(front_bytes / unit_bytes);
constexpr auto huge_first_units = static_cast<std::uint32_t>(huge_first_bytes / unit_bytes);
constexpr auto first_chunks_units = static_cast<std::uint32_t>(first_chunks_bytes / unit_bytes);
constexpr int first_chunk_attempts = 32;

bool first_unit_is_taken[first_chunks_units];
std::uint32_t huge_page_now = 0;  ///< its first unit
Lock first_lock;

// What the heap notes about its objects lies behind the first chunks of the first huge page, and
// then between windows.
constexpr std::size_t first_books_bytes = 128U << 10U;
std::uint8_t* books = nullptr;
std::size_t books_left = 0;
Lock books_lock;

std::size_t front_used = front_bytes, heap_used = first_chunks_bytes;

template <typename T>
T* pages_for(std::size_t count) {
    return static_cast<T*>(map_pages(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE));
}

/// A chunk, and those of its objects that are free and no thread's.
struct Chunk {
    Name start = 0;
    std::uint32_t count = 0;
    Name* names = nullptr;
};

Chunk* chunks = nullptr;  ///< by the number of their first unit
std::uint32_t* unit_chunks = nullptr;

std::uint32_t chunk_of(Name name) {
    return unit_chunks[static_cast<std::size_t>(name) * granule_bytes / unit_bytes];
}

/// The chunks of a class. What is free comes back by whole chunks, so that what is made together
/// lies together, however often all of it was freed before.
struct Central {
    std::uint32_t* own = nullptr;
    std::size_t count = 0;
    Lock lock;
    std::uint32_t own_count = 0, own_capacity = 0;
    std::uint32_t next = 0;  ///< where the last search among chunks with few free objects ended

    bool add(std::uint32_t chunk) {
        const Guard guard(lock);
        if (own_count == own_capacity && !grow())
            return false;
        own[own_count++] = chunk;
        return true;
    }
    void put(const Name* from, std::size_t many, std::size_t objects) {
        const Guard guard(lock);
        std::size_t kept = 0;
        for (std::size_t at = 0; at < many; ++at) {
            Chunk& chunk = chunks[chunk_of(from[at])];
            if (chunk.names == nullptr)
                chunk.names = static_cast<Name*>(take_books(objects * sizeof(Name)));
            if (chunk.names == nullptr)
                continue;  // lost to the program, as there is no memory to remember it by
            chunk.names[chunk.count++] = from[at];
            ++kept;
        }
        __atomic_store_n(&count, count + kept, __ATOMIC_RELAXED);
    }
    /// Of the chunk that has most, where that is `fewest` or more.
    std::size_t take_whole(Name* into, std::size_t many, std::size_t fewest) {
        if (__atomic_load_n(&count, __ATOMIC_RELAXED) < fewest)
            return 0;
        const Guard guard(lock);
        Chunk* most = fullest();
        if (most == nullptr || most->count < fewest)
            return 0;
        const std::size_t taken = take_from(*most, into, many);
        __atomic_store_n(&count, count - taken, __ATOMIC_RELAXED);
        return taken;
    }
    /// Of one chunk after the other.
    std::size_t take(Name* into, std::size_t many) {
        if (__atomic_load_n(&count, __ATOMIC_RELAXED) == 0)
            return 0;
        const Guard guard(lock);
        std::size_t taken = 0;
        for (std::uint32_t seen = 0; seen < own_count && taken < many; ++seen) {
            next = next + 1 < own_count ? next + 1 : 0;
            taken += take_from(chunks[own[next]], into + taken, many - taken);
        }
        __atomic_store_n(&count, count - taken, __ATOMIC_RELAXED);
        return taken;
    }

  private:
    Chunk* fullest() const {
        Chunk* most = nullptr;
        for (std::uint32_t at = 0; at < own_count; ++at) {
            Chunk& chunk = chunks[own[at]];
            if (most == nullptr || chunk.count > most->count)
                most = &chunk;
        }
        return most;
    }
    static std::size_t take_from(Chunk& chunk, Name* into, std::size_t many) {
        const std::size_t taken = many < chunk.count ? many : chunk.count;
        chunk.count -= static_cast<std::uint32_t>(taken);
        if (taken != 0)
            __builtin_memcpy(into, chunk.names + chunk.count, taken * sizeof(Name));
        return taken;
    }
    bool grow() {
        const std::uint32_t bigger = own_capacity == 0 ? 1024 : own_capacity * 2;
        auto* place = pages_for<std::uint32_t>(bigger);
        if (place == nullptr)
            return false;
        if (own_count != 0)
            __builtin_memcpy(place, own, own_count * sizeof *own);
        if (own != nullptr)
            raw(SYS_munmap, word(own), static_cast<long>(own_capacity * sizeof *own));
        own = place;
        own_capacity = bigger;
        return true;
    }
};

Central central[all_classes];

/// Lets all units of a chunk be known by its class and its first one.
bool register_chunk(std::size_t index, std::size_t place, std::size_t bytes, Name& first) {
    const auto chunk = static_cast<std::uint32_t>(place / unit_bytes);
    for (std::size_t unit = chunk; unit < (place + bytes) / unit_bytes; ++unit) {
        unit_classes[unit] = static_cast<std::uint8_t>(index);
        unit_chunks[unit] = chunk;
    }
    first = static_cast<Name>(place / granule_bytes);
    chunks[chunk].start = first;
    return central[index].add(chunk);
}

/// Takes units where all of them are free.
bool take_first_units(std::uint32_t unit, std::uint32_t many) {
    for (std::uint32_t at = unit; at < unit + many; ++at) {
        if (first_unit_is_taken[at])
            return false;
    }
    for (std::uint32_t at = unit; at < unit + many; ++at)
        first_unit_is_taken[at] = true;
    return true;
}

/// Address space that nothing lies in; false where none is left.
bool take_space(std::size_t bytes, std::size_t& place) {
    place = __atomic_load_n(&front_used, __ATOMIC_RELAXED);
    while (place + bytes <= huge_page_bytes) {
        if (__atomic_compare_exchange_n(&front_used, &place, place + bytes, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return true;
    }
    place = __atomic_fetch_add(&heap_used, bytes, __ATOMIC_RELAXED);
    return place + bytes <= heap_bytes;
}

/// A unit of the huge page that first chunks are taken from now, or of the next one.
bool take_huge_unit(Random& random, std::uint32_t& unit) {
    for (; huge_page_now < huge_first_units; huge_page_now += units_a_huge_page) {
        for (int attempt = 0; attempt < first_chunk_attempts; ++attempt) {
            unit =
                huge_page_now + random.below(huge_page_now == 0 ? front_units : units_a_huge_page);
            if (take_first_units(unit, 1))
                return true;
        }
    }
    return false;
}

/// Objects of aligned classes lie on multiples of their size, and so do their chunks.
constexpr std::size_t chunk_alignment(std::size_t index) {
    return index < plain_classes ? unit_bytes : std::max(class_bytes(index), unit_bytes);
}

/// Units behind those.
bool take_units(std::size_t index, std::uint32_t many, Random& random, std::uint32_t& unit) {
    const auto step = static_cast<std::uint32_t>(chunk_alignment(index) / unit_bytes);
    constexpr std::uint32_t units = first_chunks_units - huge_first_units;
    for (int attempt = 0; attempt < first_chunk_attempts; ++attempt) {
        unit = huge_first_units + random.below((units - many) / step + 1) * step;
        if (take_first_units(unit, many))
            return true;
    }
    return false;
}

}  // namespace

bool reserve_chunks() {
    const std::uint64_t limit = address_space_bytes();
    // Where it is limited, the heap is small, and needs to be nowhere in particular.
    const std::size_t room_bytes = limit == RLIM_INFINITY ? room_for_copies_bytes : 0;
    for (std::size_t bytes = largest_heap_bytes; bytes >= smallest_heap_bytes; bytes /= 2) {
        // Aligned, so that transparent huge pages fit where the system gives them.
        constexpr std::size_t alignment = 2U << 20U;
        if (bytes > limit / share_of_limit)
            continue;
        auto* place = pages_for<std::uint8_t>(bytes + alignment + room_bytes);
        if (place == nullptr)
            continue;
        if (room_bytes != 0)
            raw(SYS_munmap, word(place + bytes + alignment), static_cast<long>(room_bytes));
        const auto address = reinterpret_cast<std::uint64_t>(place);
        heap_start = reinterpret_cast<std::uint8_t*>((address + alignment - 1) & ~(alignment - 1));
        heap_bytes = bytes;
        // With huge pages the index bits of physical addresses are those that are drawn here.
        raw(SYS_madvise, word(heap_start), huge_first_bytes, MADV_HUGEPAGE);
        raw(SYS_madvise, word(heap_start + first_chunks_bytes),
            static_cast<long>(bytes - first_chunks_bytes), MADV_HUGEPAGE);
        unit_classes = pages_for<std::uint8_t>(bytes / unit_bytes);
        unit_chunks = pages_for<std::uint32_t>(bytes / unit_bytes);
        chunks = pages_for<Chunk>(bytes / unit_bytes);
        return unit_classes != nullptr && unit_chunks != nullptr && chunks != nullptr;
    }
    return false;
}

bool take_chunk(std::size_t index, Name& first) {
    std::size_t place = 0;
    const std::size_t bytes = chunk_bytes(index);
    const std::size_t step = chunk_alignment(index);
    if (!take_space(bytes + step - unit_bytes, place))
        return false;
    return register_chunk(index, (place + step - 1) / step * step, bytes, first);
}

bool take_first_chunk(std::size_t index, Random& random, Name& first) {
    const std::size_t bytes = first_chunk_bytes(index);
    const auto many = static_cast<std::uint32_t>(bytes / unit_bytes);
    const Guard guard(first_lock);
    std::uint32_t unit = 0;
    const bool found =
        many == 1 ? take_huge_unit(random, unit) : take_units(index, many, random, unit);
    return found && register_chunk(first_class(index), unit * unit_bytes, bytes, first);
}

void* take_books(std::size_t bytes) {
    const std::size_t wanted = (bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
    const Guard guard(books_lock);
    if (wanted > books_left) {
        const std::size_t step =
            (wanted + chunk_step_bytes - 1) / chunk_step_bytes * chunk_step_bytes;
        std::size_t place = 0;
        if (!take_space(step, place))
            return map_pages(nullptr, bytes, PROT_READ | PROT_WRITE);
        books = heap_start + place;
        books_left = step;
    }
    void* found = books;
    books += wanted;
    books_left -= wanted;
    return found;
}

Region unused_heap() {
    const auto start = reinterpret_cast<std::uint64_t>(heap_start);
    const std::size_t used = __atomic_load_n(&heap_used, __ATOMIC_RELAXED);
    return {start + (used < heap_bytes ? used : heap_bytes), start + heap_bytes};
}

Name chunk_start(Name name) {
    return chunks[chunk_of(name)].start;
}

void give_free(std::size_t index, const Name* from, std::size_t many) {
    central[index].put(from, many, chunk_objects(index % class_count));
}

std::size_t take_window(std::size_t index, Name* into, std::size_t many) {
    const std::size_t fewest = many / 8 < fewest_taken ? fewest_taken : many / 8;
    return central[index].take_whole(into, many, fewest);
}

std::size_t take_free(std::size_t index, Name* into, std::size_t many) {
    const std::size_t whole = central[index].take_whole(into, many, many / 2);
    return whole != 0 ? whole : central[index].take(into, many);
}

void hold_chunks() {
    first_lock.take();
    for (Central& each : central)
        each.lock.take();
    books_lock.take();
}

void resume_chunks() {
    books_lock.give();
    for (Central& each : central)
        each.lock.give();
    first_lock.give();
}

void reset_chunks() {
    books_lock.reset();
    for (Central& each : central)
        each.lock.reset();
    first_lock.reset();
}

}  // namespace steelyard::layout
