#include "chunks.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>

#include "central.hpp"
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

constexpr std::size_t fewest_taken = 4, page_bytes = 4096;

// First chunks lie here. Those of one unit, which are those of small objects, share the first huge
// page, with the first windows behind them, so that a small heap takes no more than this page: the
// kernel gives one in the time of some 25 small ones. Further threads take blocks among the
// windows. First chunks of more units lie behind by small pages, so that few large objects take no
// more than they touch.
constexpr std::size_t first_chunks_bytes = 16U << 20U, huge_page_bytes = 2U << 20U;
constexpr std::size_t front_bytes = 512U << 10U;  ///< of the first huge page, before windows
constexpr auto front_units = static_cast<std::uint32_t>(front_bytes / unit_bytes);
constexpr auto huge_page_units = static_cast<std::uint32_t>(huge_page_bytes / unit_bytes);
constexpr auto first_chunks_units = static_cast<std::uint32_t>(first_chunks_bytes / unit_bytes);
constexpr auto block_units = static_cast<std::uint32_t>(window_bytes / unit_bytes);
constexpr int first_chunk_attempts = 32;

bool first_unit_is_taken[first_chunks_units];
/// What chunks of one unit are taken from, once the front is full: the units of a window's bytes.
struct {
    std::uint32_t first = 0;  ///< 0: there is none yet
    bool is_taken[block_units];
    std::uint32_t taken_count = block_units;
} block;
Lock first_lock;

// What the heap notes about its objects lies behind the first chunks of the first huge page, and
// then between windows.
std::uint8_t* books = nullptr;
std::size_t books_left = 0;
Lock books_lock;

std::size_t front_used = front_bytes, heap_used = first_chunks_bytes;
long owner = 0;  ///< the process whose heap it is; the child of a vfork only borrows it

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
    place = __atomic_fetch_add(&heap_used, bytes, __ATOMIC_SEQ_CST);
    return place + bytes <= __atomic_load_n(&heap_bytes, __ATOMIC_SEQ_CST);
}

/// A unit of the front, or else of a block.
bool take_huge_unit(Random& random, std::uint32_t& unit) {
    for (int attempt = 0; attempt < first_chunk_attempts; ++attempt) {
        unit = random.below(front_units);
        if (take_first_units(unit, 1))
            return true;
    }
    if (block.taken_count == block_units) {
        std::size_t place = 0;
        if (!take_space(window_bytes, place))
            return false;
        block = {static_cast<std::uint32_t>(place / unit_bytes), {}, 0};
    }
    std::uint32_t at = random.below(block_units);
    while (block.is_taken[at])
        at = (at + 1) % block_units;
    block.is_taken[at] = true;
    ++block.taken_count;
    unit = block.first + at;
    return true;
}

/// A chunk of as many bytes that another class has emptied: programs whose phases have sizes of
/// their own would otherwise take the sum of what each of them takes.
bool take_emptied(std::size_t index, std::size_t alignment, std::size_t& place) {
    for (std::size_t other = 0; other < class_count; ++other) {
        std::uint32_t chunk = 0;
        if (other == index || chunk_bytes(other) != chunk_bytes(index) ||
            !central[other].give_whole(other, alignment, chunk))
            continue;
        place = chunk * unit_bytes;
        return true;
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
    constexpr std::uint32_t units = first_chunks_units - huge_page_units;
    for (int attempt = 0; attempt < first_chunk_attempts; ++attempt) {
        unit = huge_page_units + random.below((units - many) / step + 1) * step;
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
        owner = raw(SYS_getpid);
        // With huge pages the index bits of physical addresses are those that are drawn here.
        raw(SYS_madvise, word(heap_start), huge_page_bytes, MADV_HUGEPAGE);
        raw(SYS_madvise, word(heap_start + first_chunks_bytes),
            static_cast<long>(bytes - first_chunks_bytes), MADV_HUGEPAGE);
        unit_classes = pages_for<std::uint8_t>(bytes / unit_bytes);
        unit_chunks = pages_for<std::uint32_t>(bytes / unit_bytes);
        chunks = pages_for<Chunk>(bytes / unit_bytes);
        return unit_classes != nullptr && unit_chunks != nullptr && chunks != nullptr;
    }
    return false;
}

namespace {

/// Of what is noted for each unit.
template <typename T>
void give_end_back(T* notes, std::size_t count, std::size_t before_count) {
    const std::size_t left_bytes = (count * sizeof(T) + page_bytes - 1) / page_bytes * page_bytes;
    if (left_bytes < before_count * sizeof(T))
        raw(SYS_munmap, word(notes) + static_cast<long>(left_bytes),
            static_cast<long>(before_count * sizeof(T) - left_bytes));
}

}  // namespace

void give_unused_back(std::uint64_t limit_bytes) {
    if (raw(SYS_getpid) != owner)
        return;
    const Guard guard(first_lock);
    // Whoever wants space meanwhile gets none, and so the C library's.
    const std::size_t used = __atomic_exchange_n(&heap_used, heap_bytes, __ATOMIC_SEQ_CST);
    const std::size_t before_bytes = heap_bytes;
    const std::size_t share = std::max<std::uint64_t>(limit_bytes / share_of_limit, used);
    const std::size_t left_bytes =
        (share + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
    const bool is_less = left_bytes < before_bytes;
    if (is_less)
        __atomic_store_n(&heap_bytes, left_bytes, __ATOMIC_SEQ_CST);
    __atomic_store_n(&heap_used, used, __ATOMIC_SEQ_CST);
    if (!is_less)
        return;
    raw(SYS_munmap, word(heap_start + left_bytes), static_cast<long>(before_bytes - left_bytes));
    const std::size_t units = left_bytes / unit_bytes, before = before_bytes / unit_bytes;
    give_end_back(unit_classes, units, before);
    give_end_back(unit_chunks, units, before);
    give_end_back(chunks, units, before);
}

bool take_chunk(std::size_t index, Name& first) {
    std::size_t place = 0;
    const std::size_t bytes = chunk_bytes(index);
    const std::size_t step = chunk_alignment(index);
    if (take_emptied(index, step, place))
        return register_chunk(index, place, bytes, first);
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
    central[index].put(index, from, many);
}

std::size_t take_window(std::size_t index, Name* into, std::size_t many) {
    const std::size_t fewest = many / 8 < fewest_taken ? fewest_taken : many / 8;
    return central[index].take_whole(index, into, many, fewest);
}

std::size_t take_free(std::size_t index, Name* into, std::size_t many) {
    const std::size_t whole = central[index].take_whole(index, into, many, many / 2);
    return whole != 0 ? whole : central[index].take(index, into, many);
}

void hold_chunks() {
    first_lock.take();
    for (Central& each : central)
        each.hold();
    books_lock.take();
}

void resume_chunks() {
    books_lock.give();
    for (Central& each : central)
        each.resume();
    first_lock.give();
}

void reset_chunks() {
    owner = raw(SYS_getpid);
    books_lock.reset();
    for (Central& each : central)
        each.reset();
    first_lock.reset();
}

}  // namespace steelyard::layout
