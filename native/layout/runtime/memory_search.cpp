#include "memory_search.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "chunks.hpp"
#include "homes.hpp"
#include "memory_map.hpp"
#include "modules.hpp"
#include "pages.hpp"
#include "raw.hpp"

namespace steelyard::layout {

namespace {

// Searches take a twentieth of one processor's time at most.
constexpr std::uint64_t times_between = 20;
constexpr std::uint64_t piece_pages = 16, pages_at_once = 512;
constexpr std::uint64_t piece_bytes = piece_pages * page_bytes;
constexpr std::uint64_t page_words = page_bytes / sizeof(std::uint64_t);
constexpr std::uint64_t piece_words = piece_pages * page_words;
constexpr std::uint64_t is_present = 3ULL << 62U;  // in memory or swapped out, by proc(5)

std::uint64_t due_ns = 0;

/// One search, with what it reads by.
class MemorySearch {
  public:
    MemorySearch()
        : memory_(raw(SYS_open, word("/proc/self/mem"), O_RDONLY | O_CLOEXEC)),
          present_(raw(SYS_open, word("/proc/self/pagemap"), O_RDONLY | O_CLOEXEC)) {
        buffer_ = static_cast<std::uint64_t*>(map_pages(
            nullptr, piece_bytes + pages_at_once * sizeof(std::uint64_t), PROT_READ | PROT_WRITE));
    }
    ~MemorySearch() {
        raw(SYS_close, memory_);
        raw(SYS_close, present_);
        if (buffer_ != nullptr)
            raw(SYS_munmap, word(buffer_), piece_bytes + pages_at_once * sizeof(std::uint64_t));
    }
    MemorySearch(const MemorySearch&) = delete;
    MemorySearch& operator=(const MemorySearch&) = delete;

    bool run() {
        if (failed(memory_) || failed(present_) || buffer_ == nullptr || !read_memory_map())
            return false;
        const Region unused = unused_heap();
        for (std::size_t index = 0; index < region_count(); ++index) {
            const Region region = region_at(index);
            const bool is_split = unused.low < region.high && region.low < unused.high;
            const std::uint64_t first_end = is_split ? unused.low : region.high;
            if (!note_region(region.low, first_end))
                return false;
            if (is_split && unused.high < region.high && !note_region(unused.high, region.high))
                return false;
        }
        return true;
    }

  private:
    /// Only pages that were ever touched hold anything.
    bool note_region(std::uint64_t low, std::uint64_t high) {
        std::uint64_t* const entries = buffer_ + piece_words;
        for (std::uint64_t at = low; at < high;) {
            const std::uint64_t left = (high - at) / page_bytes;
            const std::uint64_t pages = left < pages_at_once ? left : pages_at_once;
            const auto wanted = static_cast<long>(pages * sizeof(std::uint64_t));
            if (raw(SYS_pread64, present_, word(entries), wanted,
                    static_cast<long>(at / page_bytes * sizeof(std::uint64_t))) != wanted)
                return false;
            for (std::uint64_t page = 0; page < pages;) {
                std::uint64_t run = 0;
                while (page + run < pages && run < piece_pages &&
                       (entries[page + run] & is_present) != 0)
                    ++run;
                note_pages(at + page * page_bytes, run);
                page += run + 1;
            }
            at += pages * page_bytes;
        }
        return true;
    }

    /// What is unmapped meanwhile holds nothing.
    void note_pages(std::uint64_t address, std::uint64_t pages) {
        if (pages == 0)
            return;
        const long got = raw(SYS_pread64, memory_, word(buffer_),
                             static_cast<long>(pages * page_bytes), static_cast<long>(address));
        for (std::uint64_t page = 0; got > 0 && page < static_cast<std::uint64_t>(got) / page_bytes;
             ++page) {
            const std::uint64_t from = address + page * page_bytes;
            if (!modules().keeps_books_at(from) && !is_own(from))
                note_words(buffer_ + page * page_words);
        }
    }

    bool is_own(std::uint64_t address) const {
        return address - reinterpret_cast<std::uint64_t>(buffer_) <
               piece_bytes + pages_at_once * sizeof(std::uint64_t);
    }

    /// setjmp(3) keeps where it goes on in a guise, that of glibc's PTR_MANGLE.
    void note_words(const std::uint64_t* words) const {
        constexpr unsigned turned_bits = 17;
        for (std::size_t at = 0; at < page_words; ++at) {
            const std::uint64_t value = words[at];
            if (value == 0)
                continue;
            modules().note(value);
            modules().note((value >> turned_bits | value << (64 - turned_bits)) ^ guard_);
        }
    }

    long memory_, present_;
    std::uint64_t* buffer_ = nullptr;
    std::uint64_t guard_ = pointer_guard();
};

}  // namespace

bool note_all_memory() {
    const std::uint64_t began_ns = now_ns();
    MemorySearch search;
    const bool is_complete = search.run();
    const std::uint64_t ended_ns = now_ns();
    due_ns = ended_ns + (ended_ns - began_ns) * times_between;
    return is_complete;
}

bool memory_search_is_due() {
    return now_ns() >= due_ns;
}

}  // namespace steelyard::layout
