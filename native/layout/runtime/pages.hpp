// Changes pages of code that may be running: their protection, or all their bytes in one step.

#pragma once

#include <cstdint>

namespace steelyard::layout {

constexpr std::uint64_t page_bytes = 4096;

inline std::uint64_t in_pages(std::uint64_t bytes) {
    return (bytes + page_bytes - 1) / page_bytes;
}

inline std::uint64_t page_of(std::uint64_t address) {
    return address / page_bytes * page_bytes;
}

inline std::uint8_t* bytes_at(std::uint64_t address) {
    return reinterpret_cast<std::uint8_t*>(address);
}

/// Ends the process where the kernel refuses.
void protect(std::uint64_t low, std::uint64_t high, int protection);

/// A change to pages of code. It is mapped in one step, so no thread sees half of it, the pages can
/// be those that run just now, and no page is ever writable and executable.
class Replacement {
  public:
    Replacement(std::uint64_t low, std::uint64_t high);

    std::uint8_t* at(std::uint64_t address) const { return changed_ + (address - low_); }
    void put_in_place() const;

  private:
    std::uint64_t low_, size_;
    std::uint8_t* changed_ = nullptr;
};

}  // namespace steelyard::layout
