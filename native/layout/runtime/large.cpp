#include "large.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstdint>

#include "random.hpp"
#include "raw.hpp"

namespace steelyard::layout {

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t line_bytes = 64;
// Lines that an object may be moved by: the index bits of a first-level cache and some beyond. In
// pages that are kept the page of the last object begins the next one as well, so that objects
// which come and go touch no more and more of them.
constexpr std::uint32_t offset_lines = 1024;
constexpr auto page_lines = static_cast<std::uint32_t>(page_bytes / line_bytes);
constexpr std::uint32_t offset_pages = offset_lines / page_lines;
// What is freed is kept for the next of its size, as glibc does up to DEFAULT_MMAP_THRESHOLD_MAX.
constexpr std::size_t largest_kept_bytes = 32U << 20U;
constexpr std::size_t most_kept_bytes = 128U << 20U;
// What is kept and what lives take together no more than what lived at most, a sixteenth, and this.
constexpr std::size_t spare_bytes = 512U << 10U, spare_share = 16;
constexpr std::size_t bins = 128, places_a_bin = 16;
constexpr std::uint64_t magic = 0x53544c59534c4152;

/// Right before the object.
struct Header {
    std::uint64_t mark;
    std::uint64_t pages_start, pages_bytes;
    std::uint64_t size;
};

struct Kept {
    std::uint64_t start, bytes;
    std::uint32_t first_page;  ///< that the last object began in, less the line of its header
};

Lock keeping;
Kept kept[bins][places_a_bin];
std::size_t kept_bytes = 0, live_bytes = 0, most_live_bytes = 0;
std::size_t next_given_back = 0;  ///< the place that is looked at next

Header* header_of(const void* object) {
    return reinterpret_cast<Header*>(reinterpret_cast<std::uint64_t>(object) - sizeof(Header));
}

std::uint64_t mark_of(const void* object) {
    return magic ^ reinterpret_cast<std::uint64_t>(object);
}

/// Eight sizes to a doubling, in pages.
std::size_t rounded(std::size_t bytes, std::size_t& bin) {
    std::size_t pages = (bytes + page_bytes - 1) / page_bytes;
    const auto top = static_cast<std::size_t>(63 - __builtin_clzll(pages | 8U));
    const std::size_t step = std::size_t{1} << (top - 3);
    pages = (pages + step - 1) / step * step;
    const auto now_top = static_cast<std::size_t>(63 - __builtin_clzll(pages | 8U));
    bin = (now_top - 3) * 8 + ((pages >> (now_top - 3)) & 7U);
    return pages * page_bytes;
}

Kept take_kept(Random& random, std::size_t bin, std::size_t bytes) {
    const Guard guard(keeping);
    const std::uint32_t first = random.below(places_a_bin);
    for (std::size_t at = 0; at < places_a_bin; ++at) {
        Kept& place = kept[bin][(first + at) % places_a_bin];
        if (place.start != 0 && place.bytes == bytes) {
            const Kept found = place;
            place.start = 0;
            kept_bytes -= bytes;
            live_bytes += bytes;
            return found;
        }
    }
    return {};
}

/// Counts pages that are new to the program, and gives kept ones back for them.
void add_live(std::size_t bytes) {
    const Guard guard(keeping);
    live_bytes += bytes;
    if (live_bytes > most_live_bytes)
        most_live_bytes = live_bytes;
    const std::size_t most_bytes = most_live_bytes + most_live_bytes / spare_share + spare_bytes;
    while (kept_bytes != 0 && kept_bytes + live_bytes > most_bytes) {
        Kept& place = kept[next_given_back / places_a_bin][next_given_back % places_a_bin];
        next_given_back = (next_given_back + 1) % (bins * places_a_bin);
        if (place.start == 0)
            continue;
        raw(SYS_munmap, static_cast<long>(place.start), static_cast<long>(place.bytes));
        kept_bytes -= place.bytes;
        place.start = 0;
    }
}

bool keep(std::uint64_t start, std::size_t bytes, std::uint64_t object) {
    std::size_t bin = 0;
    const std::uint64_t page = (object - start - line_bytes) / page_bytes;
    const bool is_of_bin =
        bytes <= largest_kept_bytes && rounded(bytes, bin) == bytes && bin < bins;
    const Guard guard(keeping);
    live_bytes -= bytes;
    if (!is_of_bin || kept_bytes + bytes > most_kept_bytes)
        return false;
    for (Kept& place : kept[bin]) {
        if (place.start == 0) {
            place = {start, bytes,
                     static_cast<std::uint32_t>(page < offset_pages ? page : offset_pages - 1)};
            kept_bytes += bytes;
            return true;
        }
    }
    return false;
}

}  // namespace

void* large_allocate(Random& random, std::size_t alignment, std::size_t size, bool& is_zero) {
    alignment = alignment < line_bytes ? line_bytes : alignment;
    const std::size_t extra = offset_lines * line_bytes + alignment + page_bytes;
    if (size > SIZE_MAX / 4 || alignment > SIZE_MAX / 4)
        return nullptr;
    std::size_t bin = 0;
    const std::size_t bytes = rounded(size + extra, bin);
    Kept pages{};
    if (bytes <= largest_kept_bytes && bin < bins)
        pages = take_kept(random, bin, bytes);
    is_zero = pages.start == 0;
    if (is_zero)
        pages = {reinterpret_cast<std::uint64_t>(map_pages(nullptr, bytes, PROT_READ | PROT_WRITE)),
                 bytes, random.below(offset_pages)};
    const std::uint64_t start = pages.start;
    if (start == 0)
        return nullptr;
    if (is_zero)
        add_live(bytes);
    const std::uint32_t line = pages.first_page * page_lines + random.below(page_lines);
    std::uint64_t place = start + line_bytes + std::uint64_t{line} * line_bytes;
    place = (place + alignment - 1) & ~(alignment - 1);
    auto* object = reinterpret_cast<void*>(place);
    *header_of(object) = {mark_of(object), start, bytes, start + bytes - place};
    return object;
}

std::size_t large_size(const void* object) {
    const auto address = reinterpret_cast<std::uint64_t>(object);
    // Others' objects may start where there is nothing readable before them.
    if (address % line_bytes != 0)
        return 0;
    if (address % page_bytes == 0) {
        unsigned char resident = 0;
        if (failed(raw(SYS_mincore, static_cast<long>(address - page_bytes), page_bytes,
                       word(&resident))))
            return 0;
    }
    const Header* header = header_of(object);
    return header->mark == mark_of(object) ? header->size : 0;
}

void large_free(void* object) {
    Header* header = header_of(object);
    const Header found = *header;
    header->mark = 0;
    if (!keep(found.pages_start, found.pages_bytes, reinterpret_cast<std::uint64_t>(object)))
        raw(SYS_munmap, static_cast<long>(found.pages_start), static_cast<long>(found.pages_bytes));
}

void* large_resize(void* object, std::size_t size) {
    const Header found = *header_of(object);
    const std::uint64_t inside = reinterpret_cast<std::uint64_t>(object) - found.pages_start;
    if (size > SIZE_MAX / 4)
        return nullptr;
    std::size_t bin = 0;
    const std::size_t bytes = rounded(inside + size, bin);
    header_of(object)->mark = 0;
    const long moved =
        raw(SYS_mremap, static_cast<long>(found.pages_start), static_cast<long>(found.pages_bytes),
            static_cast<long>(bytes), MREMAP_MAYMOVE);
    if (failed(moved)) {
        header_of(object)->mark = found.mark;
        return nullptr;
    }
    add_live(bytes - found.pages_bytes);  // which wraps where it is smaller
    const auto start = static_cast<std::uint64_t>(moved);
    auto* place = reinterpret_cast<void*>(start + inside);
    *header_of(place) = {mark_of(place), start, bytes, bytes - inside};
    return place;
}

void hold_large() {
    keeping.take();
}

void resume_large() {
    keeping.give();
}

void reset_large() {
    keeping.reset();
}

}  // namespace steelyard::layout
