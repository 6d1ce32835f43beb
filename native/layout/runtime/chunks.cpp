#include "chunks.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "raw.hpp"

namespace steelyard::layout {

std::uint8_t* heap_start = nullptr;
std::size_t heap_bytes = 0;
std::uint8_t* unit_classes = nullptr;

namespace {

constexpr std::size_t largest_heap_bytes = granule_bytes << 32U;
constexpr std::size_t smallest_heap_bytes = 1U << 30U;
// The kernel puts it right below the libraries; branches reach 2 GiB from them.
constexpr std::size_t room_for_copies_bytes = 4ULL << 30U;

std::size_t heap_used = 0;

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
        __atomic_store_n(&count, count + many, __ATOMIC_RELAXED);
    }
    std::size_t take(Name* into, std::size_t many) {
        if (__atomic_load_n(&count, __ATOMIC_RELAXED) == 0)
            return 0;
        const Guard guard(lock);
        many = many < count ? many : count;
        __atomic_store_n(&count, count - many, __ATOMIC_RELAXED);
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

Central central[class_count];

}  // namespace

bool reserve_chunks() {
    for (std::size_t bytes = largest_heap_bytes; bytes >= smallest_heap_bytes; bytes /= 2) {
        // Aligned, so that transparent huge pages fit where the system gives them.
        constexpr std::size_t alignment = 2U << 20U;
        auto* place = pages_for<std::uint8_t>(bytes + alignment + room_for_copies_bytes);
        if (place == nullptr)
            continue;
        raw(SYS_munmap, word(place + bytes + alignment), static_cast<long>(room_for_copies_bytes));
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

void give_free(std::size_t index, const Name* from, std::size_t many) {
    central[index].put(from, many);
}

std::size_t take_free(std::size_t index, Name* into, std::size_t many) {
    return central[index].take(into, many);
}

void hold_chunks() {
    for (Central& each : central)
        each.lock.take();
}

void resume_chunks() {
    for (Central& each : central)
        each.lock.give();
}

void reset_chunks() {
    for (Central& each : central)
        each.lock.reset();
}

}  // namespace steelyard::layout
