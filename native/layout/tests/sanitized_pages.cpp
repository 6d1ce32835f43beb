/// The pages of the runtime, as the sanitizers must see them: it asks the kernel itself, so that
/// they would take what lies at an address now for what lay there before. The linker puts these
/// in the place of those in raw.cpp.
#include <sys/mman.h>

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace {

constexpr std::size_t page_bytes = 4096;
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t largest_marked_bytes = 1U << 30U;
#endif

void* map(void* address, std::size_t size, int protection, int flags) {
    void* found =
        mmap(address, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    if (found == MAP_FAILED)
        return nullptr;
#ifdef __SANITIZE_ADDRESS__
    // What is behind the last byte asked for is nobody's, though the page goes on. What is only
    // reserved would take as much of the sanitizer's own memory.
    const std::size_t whole = (size + page_bytes - 1) / page_bytes * page_bytes;
    if (size < largest_marked_bytes)
        __asan_unpoison_memory_region(found, size);
    __asan_poison_memory_region(static_cast<char*>(found) + size, whole - size);
#endif
    return found;
}

}  // namespace

extern "C" {

void* __wrap__ZN9steelyard6layout9map_pagesEPvmib(void* address, std::size_t size, int protection,
                                                  bool fixed) {
    return map(address, size, protection, fixed ? MAP_FIXED : 0);
}

void* __wrap__ZN9steelyard6layout17map_pages_at_freeEPvmi(void* address, std::size_t size,
                                                          int protection) {
    return map(address, size, protection, MAP_FIXED_NOREPLACE);
}
}
