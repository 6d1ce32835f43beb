#include "mark_reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include "fatal.hpp"

namespace steelyard {

MarkReader::MarkReader(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat status{};
    if (file < 0 || fstat(file, &status) != 0 ||
        static_cast<std::uint64_t>(status.st_size) < mark_ring_bytes) {
        if (file >= 0)
            close(file);
        throw Fatal("The ring of marked samples " + path + " cannot be read.");
    }
    void* const memory =
        mmap(nullptr, mark_ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    ring_ = static_cast<MarkRing*>(memory);
    if (memory == MAP_FAILED || ring_->magic != mark_ring_magic)
        throw Fatal("The ring of marked samples " + path + " cannot be read.");
    records_ = {reinterpret_cast<MarkRecord*>(ring_ + 1), mark_ring_places};
}

MarkReader::~MarkReader() {
    munmap(ring_, mark_ring_bytes);
}

bool MarkReader::take_record(Sample& sample) const {
    const MarkRecord& record = records_[read_ % mark_ring_places];
    if (record.number.load(std::memory_order_acquire) != read_ + 1)
        return false;
    sample.time_ns = record.time_ns;
    sample.process = record.process;
    sample.thread = record.thread;
    sample.cpu = record.cpu;
    sample.address = sample.user_address = record.address;
    sample.stack_pointer = record.stack_pointer;
    sample.base_pointer = record.frame_pointer;
    sample.frame_word = record.value;
    std::atomic_thread_fence(std::memory_order_acquire);
    return record.number.load(std::memory_order_relaxed) == read_ + 1;
}

}  // namespace steelyard
