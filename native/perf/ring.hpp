// A ring buffer that the kernel fills with records of a perf event.

#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace steelyard {

/// One record, whole, wherever in the ring it lay.
struct RawRecord {
    const perf_event_header* header;
    const std::byte* body;
    std::size_t body_bytes;
};

/// Maps the ring of `file`; throws Fatal when the kernel gives no memory for it.
class Ring {
  public:
    Ring(int file, std::size_t data_pages);
    ~Ring();
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    /// Calls `take(record)` for each record that is there, oldest first, and frees their space.
    template <typename Take>
    void drain(Take take) {
        const std::uint64_t head = __atomic_load_n(&page_->data_head, __ATOMIC_ACQUIRE);
        std::uint64_t tail = page_->data_tail;
        while (tail < head) {
            const RawRecord record = record_at(tail);
            take(record);
            tail += record.header->size;
        }
        __atomic_store_n(&page_->data_tail, tail, __ATOMIC_RELEASE);
    }

    /// The oldest record, which stays until `pop`; nothing where there is none.
    std::optional<RawRecord> front();
    /// Frees the space of the oldest record, which must be there.
    void pop();

  private:
    RawRecord record_at(std::uint64_t position);

    perf_event_mmap_page* page_ = nullptr;
    std::byte* data_ = nullptr;
    std::size_t data_bytes_;
    std::size_t mapped_bytes_;
    std::vector<std::uint64_t> unwrapped_;
};

}  // namespace steelyard
