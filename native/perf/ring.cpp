#include "ring.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "fatal.hpp"

namespace steelyard {

Ring::Ring(int file, std::size_t data_pages) {
    const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    data_bytes_ = data_pages * page_bytes;
    mapped_bytes_ = data_bytes_ + page_bytes;
    void* mapped = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        throw Fatal::with_errno("The kernel gives no memory for samples (see perf_event_mlock_kb)");
    page_ = static_cast<perf_event_mmap_page*>(mapped);
    data_ = static_cast<std::byte*>(mapped) + page_bytes;
}

Ring::~Ring() {
    munmap(page_, mapped_bytes_);
}

std::optional<RawRecord> Ring::front() {
    const std::uint64_t head = __atomic_load_n(&page_->data_head, __ATOMIC_ACQUIRE);
    if (page_->data_tail >= head)
        return std::nullopt;
    return record_at(page_->data_tail);
}

void Ring::pop() {
    const std::uint64_t tail = page_->data_tail;
    __atomic_store_n(&page_->data_tail, tail + record_at(tail).header->size, __ATOMIC_RELEASE);
}

RawRecord Ring::record_at(std::uint64_t position) {
    const std::size_t at = position % data_bytes_;
    const auto* header = reinterpret_cast<const perf_event_header*>(data_ + at);
    const std::size_t size = header->size;
    if (at + size > data_bytes_) {
        // It goes round the end: put its two parts together.
        unwrapped_.resize(size / sizeof(std::uint64_t) + 1);
        auto* whole = reinterpret_cast<std::byte*>(unwrapped_.data());
        const std::size_t first = data_bytes_ - at;
        std::memcpy(whole, data_ + at, first);
        std::memcpy(whole + first, data_, size - first);
        header = reinterpret_cast<const perf_event_header*>(whole);
    }
    const auto* body = reinterpret_cast<const std::byte*>(header) + sizeof(perf_event_header);
    return {header, body, size - sizeof(perf_event_header)};
}

}  // namespace steelyard
