#include "pages.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "raw.hpp"

namespace steelyard::layout {

void protect(std::uint64_t low, std::uint64_t high, int protection) {
    if (failed(
            raw(SYS_mprotect, static_cast<long>(low), static_cast<long>(high - low), protection)))
        fail("the protection of pages cannot be changed");
}

Replacement::Replacement(std::uint64_t low, std::uint64_t high)
    : low_(page_of(low)), size_(in_pages(high) * page_bytes - low_) {
    changed_ = static_cast<std::uint8_t*>(map_pages(nullptr, size_, PROT_READ | PROT_WRITE));
    if (changed_ == nullptr)
        fail("there is no memory for changed code");
    __builtin_memcpy(changed_, bytes_at(low_), size_);
}

void Replacement::put_in_place() const {
    const auto start = reinterpret_cast<std::uint64_t>(changed_);
    protect(start, start + size_, PROT_READ | PROT_EXEC);
    const auto size = static_cast<long>(size_);
    if (failed(raw(SYS_mremap, word(changed_), size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
                   static_cast<long>(low_))))
        fail("changed code cannot be put in place");
}

}  // namespace steelyard::layout
