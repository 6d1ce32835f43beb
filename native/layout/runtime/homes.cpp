#include "homes.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "raw.hpp"

extern "C" void* __libc_stack_end;

namespace steelyard::layout {

namespace {

constexpr std::size_t known_threads = 4096;
// glibc's control block of a thread: at its start, and two words on, its own address; the thread
// pointer leads to it, and it is the last thing of the thread's stack, on a cache line's boundary.
constexpr std::uint64_t block_alignment_bytes = 64, own_address_again = 16;
constexpr std::uint64_t searched_bytes = 64U << 10U;
constexpr std::uint64_t likely_number_place = 0x2d0;

struct KnownThread {
    std::int32_t id;
    std::uint64_t thread_pointer;
};

KnownThread* known = nullptr;
std::uint64_t first_thread_pointer = 0;
std::uint64_t number_place = likely_number_place;  ///< of the thread's number in its control block

template <typename T>
bool read_at(long memory, std::uint64_t address, T& value) {
    return raw(SYS_pread64, memory, word(&value), sizeof value, static_cast<long>(address)) ==
           static_cast<long>(sizeof value);
}

bool is_block_of(long memory, std::uint64_t address, long thread) {
    std::uint64_t own = 0;
    std::uint64_t again = 0;
    std::int32_t number = 0;
    return read_at(memory, address, own) && own == address &&
           read_at(memory, address + own_address_again, again) && again == address &&
           read_at(memory, address + number_place, number) && number == thread;
}

/// The thread pointer of a thread whose stack ends with this region; 0 where none is found.
std::uint64_t find_block(long memory, const Region& region, long thread) {
    alignas(8) static std::uint64_t words[searched_bytes / sizeof(std::uint64_t)];
    const std::uint64_t size =
        region.high - region.low < searched_bytes ? region.high - region.low : searched_bytes;
    const std::uint64_t low = region.high - size;
    if (raw(SYS_pread64, memory, word(words), static_cast<long>(size), static_cast<long>(low)) !=
        static_cast<long>(size))
        return 0;
    for (std::uint64_t at = size; at >= block_alignment_bytes;) {
        at -= block_alignment_bytes;
        const std::uint64_t address = low + at;
        if (words[at / sizeof(std::uint64_t)] == address && is_block_of(memory, address, thread))
            return address;
    }
    return 0;
}

}  // namespace

void prepare_homes() {
    known = static_cast<KnownThread*>(
        map_pages(nullptr, known_threads * sizeof(KnownThread), PROT_READ | PROT_WRITE));
    if (known == nullptr)
        fail("there is no memory for the threads' stacks");
    asm("movq %%fs:0, %0" : "=r"(first_thread_pointer));
    constexpr std::uint64_t block_bytes = 4096;
    const auto number = static_cast<std::int32_t>(raw(SYS_gettid));
    const auto* block = reinterpret_cast<const std::int32_t*>(first_thread_pointer);
    for (std::uint64_t at = 0; at < block_bytes; at += sizeof number) {
        if (block[at / sizeof number] == number) {
            number_place = at;
            return;
        }
    }
}

std::uint64_t pointer_guard() {
    constexpr std::uint64_t place = 0x30;
    return *reinterpret_cast<const std::uint64_t*>(first_thread_pointer + place);
}

Region home_of(std::uint64_t thread_pointer) {
    if (thread_pointer == first_thread_pointer) {
        const Region* region = region_of(reinterpret_cast<std::uint64_t>(__libc_stack_end));
        return region == nullptr ? Region{0, 0} : *region;
    }
    const Region* region = region_of(thread_pointer);
    return region == nullptr ? Region{0, 0} : Region{region->low, thread_pointer};
}

std::uint64_t end_of_home(long process, long memory, long thread, std::uint64_t stack_pointer) {
    const Region* region = region_of(stack_pointer);
    if (region == nullptr)
        return 0;
    const auto main_stack = reinterpret_cast<std::uint64_t>(__libc_stack_end);
    if (main_stack >= region->low && main_stack < region->high)
        return thread == process ? region->high : 0;
    KnownThread& entry = known[static_cast<std::size_t>(thread) % known_threads];
    const bool is_here = entry.id == thread && entry.thread_pointer >= region->low &&
                         entry.thread_pointer < region->high &&
                         is_block_of(memory, entry.thread_pointer, thread);
    if (!is_here) {
        const std::uint64_t found = find_block(memory, *region, thread);
        if (found == 0)
            return 0;
        entry = {static_cast<std::int32_t>(thread), found};
    }
    return entry.thread_pointer > stack_pointer ? entry.thread_pointer : 0;
}

void remember_home(std::uint64_t thread_pointer) {
    const auto thread = static_cast<std::int32_t>(raw(SYS_gettid));
    known[static_cast<std::size_t>(thread) % known_threads] = {thread, thread_pointer};
}

bool is_away_from_home(long process, long memory, long thread, std::uint64_t stack_pointer) {
    const Region* region = region_of(stack_pointer);
    std::uint64_t home = reinterpret_cast<std::uint64_t>(__libc_stack_end);
    if (thread != process) {
        const KnownThread& entry = known[static_cast<std::size_t>(thread) % known_threads];
        if (entry.id != thread || !is_block_of(memory, entry.thread_pointer, thread))
            return false;
        home = entry.thread_pointer;
    }
    return region != nullptr && (home < region->low || home >= region->high);
}

}  // namespace steelyard::layout
