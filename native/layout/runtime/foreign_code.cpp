#include "foreign_code.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstdint>

#include "memory_map.hpp"
#include "raw.hpp"
#include "stack_pointer.hpp"

namespace steelyard::layout {

namespace {

constexpr std::size_t most_libraries = 1024;
constexpr std::size_t piece_bytes = 64U << 10U, overlap_bytes = 3;
// What these do with stacks is known, and seen by what programs call; or leads back where it came
// from, as in cryptography.
constexpr const char* known_names[] = {"libc.so", "libc-", "ld-linux", "libcrypto.so"};
constexpr const char* switching_name = "libboost_context";

std::uint64_t seen[most_libraries];

bool is_seen(std::uint64_t low) {
    std::uint64_t& place = seen[low / 4096 % most_libraries];
    const bool known = place == low;
    place = low;
    return known;
}

bool begins_with(const char* text, const char* beginning) {
    while (*beginning != '\0' && *text == *beginning) {
        ++text;
        ++beginning;
    }
    return *beginning == '\0';
}

bool is_known(const char* name) {
    for (const char* known : known_names) {
        if (begins_with(name, known))
            return true;
    }
    return false;
}

bool takes_from_memory(const std::uint8_t* code, std::size_t size) {
    constexpr std::size_t looked_at_bytes = overlap_bytes + 1;
    for (std::size_t at = 0; at + looked_at_bytes <= size; ++at) {
        if (stack_pointer_of(code + at, looked_at_bytes, false) == StackPointer::of_memory)
            return true;
    }
    return false;
}

/// By way of the file `memory`, as a library may go meanwhile.
bool switches_stacks(long memory, const CodeRegion& region) {
    if (is_known(region.name))
        return false;
    if (begins_with(region.name, switching_name))
        return true;
    static std::uint8_t piece[piece_bytes];
    for (std::uint64_t at = region.low; at < region.high; at += piece_bytes - overlap_bytes) {
        const std::uint64_t left = region.high - at;
        const auto wanted = static_cast<long>(left < piece_bytes ? left : piece_bytes);
        const long got = raw(SYS_pread64, memory, word(piece), wanted, static_cast<long>(at));
        if (failed(got))
            return false;
        if (takes_from_memory(piece, static_cast<std::size_t>(got)))
            return true;
    }
    return false;
}

}  // namespace

bool new_code_switches_stacks() {
    const long memory = raw(SYS_open, word("/proc/self/mem"), O_RDONLY | O_CLOEXEC);
    if (failed(memory))
        return false;
    bool found = false;
    for (std::size_t index = 0; index < code_region_count(); ++index) {
        const CodeRegion region = code_region_at(index);
        if (!is_seen(region.low) && switches_stacks(memory, region))
            found = true;
    }
    raw(SYS_close, memory);
    return found;
}

}  // namespace steelyard::layout
