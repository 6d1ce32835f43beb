#include "arena.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>

#include "code_file.hpp"
#include "pages.hpp"
#include "raw.hpp"
#include "settings.hpp"

namespace steelyard::layout {

namespace {

// A branch reaches 2 GiB; the arena and the image share that.
constexpr std::uint64_t reach_bytes = 0x7fff0000;
constexpr std::uint64_t smallest_bytes = 64U << 20U, largest_bytes = 1U << 30U;
constexpr std::uint64_t generations_of_room = 32;
// Where large data leave less: those that are called, those in use, and their holes.
constexpr std::uint64_t fewest_generations_of_room = 8;
// Of an address space that is limited (`ulimit -v`).
constexpr std::uint64_t share_of_limit = 16;
constexpr int attempts = 256;

std::uint64_t largest_copy_bytes(const FunctionEntry& function) {
    const bool is_cut = settings().has(part_blocks) && function.cut_bytes != 0;
    return (is_cut ? function.cut_bytes : function.code_bytes) + function.table_bytes;
}

/// What one set of copies may take.
std::uint64_t generation_bytes(const Program& program) {
    std::uint64_t bytes = 0;
    for (std::uint32_t index = 0; index < program.function_count(); ++index)
        bytes += largest_copy_bytes(program.function(index)) + gap_steps * copy_alignment_bytes;
    return bytes;
}

std::uint64_t wanted_bytes(const Program& program) {
    const std::uint64_t bytes = generation_bytes(program) * generations_of_room;
    const std::uint64_t size = in_pages(bytes) * page_bytes;
    const std::uint64_t share = address_space_bytes() / share_of_limit / page_bytes * page_bytes;
    const std::uint64_t wanted = size < smallest_bytes ? smallest_bytes : size;
    return std::min({wanted, largest_bytes, share});
}

/// A random free place near the program, reserved; 0 where there is none.
std::uint64_t reserve_near(const Program& program, std::uint64_t size, Random& random) {
    const auto& header = program.header();
    const std::uint64_t low = page_of(program.address(header.image_low));
    const std::uint64_t high = in_pages(program.address(header.image_high)) * page_bytes;
    if (high - low + size > reach_bytes)
        return 0;
    const auto room_pages =
        static_cast<std::uint32_t>((reach_bytes - (high - low) - size) / page_bytes);
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const std::uint64_t distance = std::uint64_t{random.below(room_pages) + 1} * page_bytes;
        const std::uint64_t below = low - distance - size;
        const std::uint64_t place = attempt % 8 == 7 || below > low ? high + distance : below;
        if (map_pages_at_free(bytes_at(place), size, PROT_NONE) != nullptr)
            return place;
    }
    return 0;
}

}  // namespace

bool Arena::reserve(const Program& program, Random& random) {
    const auto& header = program.header();
    const std::uint64_t fewest =
        std::max(generation_bytes(program) * fewest_generations_of_room, page_bytes);
    slot_bytes_ =
        in_pages((header.function_count + header.label_count) * sizeof(std::uint64_t)) * page_bytes;
    std::uint64_t size = wanted_bytes(program);
    std::uint64_t place = reserve_near(program, size + slot_bytes_, random);
    while (place == 0 && size / 2 >= fewest) {
        size = in_pages(size / 2) * page_bytes;
        place = reserve_near(program, size + slot_bytes_, random);
    }
    if (place == 0)
        return false;
    slots_ = static_cast<std::uint64_t*>(
        map_pages(bytes_at(place), slot_bytes_, PROT_READ | PROT_WRITE, true));
    owners_ = static_cast<Generation**>(
        map_pages(nullptr, size / page_bytes * sizeof(Generation*), PROT_READ | PROT_WRITE));
    if (slots_ == nullptr || owners_ == nullptr)
        return false;
    start_ = place + slot_bytes_;
    __atomic_store_n(&pages_, size / page_bytes, __ATOMIC_RELEASE);
    return true;
}

void Arena::give_back() {
    const std::uint64_t pages = pages_;
    if (pages == 0)
        return;
    __atomic_store_n(&pages_, 0, __ATOMIC_RELEASE);
    raw(SYS_munmap, word(static_cast<const void*>(owners_)),
        static_cast<long>(pages * sizeof(Generation*)));
    raw(SYS_munmap, static_cast<long>(start_ - slot_bytes_),
        static_cast<long>(slot_bytes_ + pages * page_bytes));
    used_pages_ = 0;
}

std::uint64_t Arena::find_hole(std::uint64_t pages, Random& random) const {
    if (pages >= pages_)
        return 0;
    const auto places = static_cast<std::uint32_t>(pages_ - pages);
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const std::uint64_t first = random.below(places);
        std::uint64_t free = 0;
        while (free < pages && owners_[first + free] == nullptr)
            ++free;
        if (free == pages)
            return start_ + first * page_bytes;
    }
    return 0;
}

bool Arena::place(Generation& generation, std::uint64_t pages, Random& random) {
    const std::uint64_t low = find_hole(pages, random);
    if (low == 0 ||
        map_pages(bytes_at(low), pages * page_bytes, PROT_READ | PROT_WRITE, true) == nullptr)
        return false;
    generation.low = low;
    generation.high = low + pages * page_bytes;
    return true;
}

void Arena::own(Generation& generation) {
    const std::uint64_t pages = (generation.high - generation.low) / page_bytes;
    for (std::uint64_t page = 0; page < pages; ++page)
        __atomic_store_n(&owners_[(generation.low - start_) / page_bytes + page], &generation,
                         __ATOMIC_RELEASE);
    used_pages_ += pages;
    if (used_pages_ > most_used_pages_)
        most_used_pages_ = used_pages_;
}

bool Arena::is_used_by(const Generation& generation) const {
    for (std::uint64_t page = (generation.low - start_) / page_bytes;
         page < (generation.high - start_) / page_bytes; ++page) {
        if (owners_[page] == &generation)
            return true;
    }
    return false;
}

Generation* Arena::generation_at(std::uint64_t address) const {
    const std::uint64_t pages = __atomic_load_n(&pages_, __ATOMIC_ACQUIRE);
    const std::uint64_t page = (address - start_) / page_bytes;
    if (address < start_ || page >= pages)
        return nullptr;
    return __atomic_load_n(&owners_[page], __ATOMIC_ACQUIRE);
}

/// Gives back the pages between that are still the generation's.
void Arena::release(const Generation& generation, std::uint64_t low, std::uint64_t high) {
    std::uint64_t run_from = low;
    const auto release_run = [&](std::uint64_t run_until) {
        if (run_until > run_from)
            map_pages(bytes_at(run_from), run_until - run_from, PROT_NONE, true);
    };
    for (std::uint64_t at = low; at < high; at += page_bytes) {
        Generation*& owner = owners_[(at - start_) / page_bytes];
        if (owner != &generation) {
            release_run(at);
            run_from = at + page_bytes;
            continue;
        }
        __atomic_store_n(&owner, nullptr, __ATOMIC_RELEASE);
        --used_pages_;
    }
    release_run(high);
}

std::uint64_t Arena::free_dead_pages(Generation& generation) {
    const Program& program = *generation.program;
    std::uint64_t died = 0;
    std::uint64_t free_from = generation.low;
    for (std::uint32_t at = 0; at < program.function_count(); ++at) {
        const std::uint32_t index = generation.order[at];
        const std::uint64_t start = generation.copies[index] - generation.entry_bytes;
        if (generation.live[index] == 0) {
            died += generation.is_current[index] != freed_mark ? 1U : 0U;
            generation.is_current[index] = freed_mark;
            continue;
        }
        release(generation, free_from, page_of(start));
        const std::uint64_t end =
            in_pages(generation.copies[index] + copy_bytes(generation, index)) * page_bytes;
        free_from = end > free_from ? end : free_from;
    }
    release(generation, free_from, generation.high);
    return died;
}

}  // namespace steelyard::layout
