#include "memory_map.hpp"

#include <sys/mman.h>

#include "raw.hpp"

namespace steelyard::layout {

namespace {

constexpr std::size_t most_regions = 1U << 16U;
constexpr std::size_t maps_bytes = 1U << 23U;

Region* regions = nullptr;
std::size_t count = 0;
constexpr std::size_t most_code_regions = 1024;
CodeRegion code_regions[most_code_regions];
std::size_t code_count = 0;
char* maps_text = nullptr;

}  // namespace

std::uint64_t hexadecimal(const char*& text) {
    std::uint64_t value = 0;
    if (text[0] == '0' && text[1] == 'x')
        text += 2;
    for (;; ++text) {
        if (*text >= '0' && *text <= '9')
            value = value * 16 + static_cast<std::uint64_t>(*text - '0');
        else if (*text >= 'a' && *text <= 'f')
            value = value * 16 + static_cast<std::uint64_t>(*text - 'a' + 10);
        else
            return value;
    }
}

void prepare_memory_map() {
    constexpr int access = PROT_READ | PROT_WRITE;
    regions = static_cast<Region*>(map_pages(nullptr, most_regions * sizeof(Region), access));
    maps_text = static_cast<char*>(map_pages(nullptr, maps_bytes, access));
    if (regions == nullptr || maps_text == nullptr)
        fail("there is no memory for the map of the threads' stacks");
}

bool read_memory_map() {
    const long size = read_file("/proc/self/maps", maps_text, maps_bytes - 1);
    if (size <= 0 || static_cast<std::size_t>(size) >= maps_bytes - 1)
        return false;
    maps_text[size] = '\0';
    count = code_count = 0;
    const char* text = maps_text;
    while (*text != '\0' && count < most_regions) {
        const std::uint64_t low = hexadecimal(text);
        ++text;
        const std::uint64_t high = hexadecimal(text);
        if (text[1] == 'r' && text[2] == 'w')
            regions[count++] = {low, high};
        const bool is_code = text[1] == 'r' && text[2] == '-' && text[3] == 'x';
        const char* name = nullptr;
        for (; *text != '\0' && *text != '\n'; ++text)
            name = *text == '/' ? text + 1 : name;
        if (is_code && name != nullptr && code_count < most_code_regions)
            code_regions[code_count++] = {low, high, name};
        text += *text == '\n' ? 1 : 0;
    }
    return count < most_regions;
}

std::size_t code_region_count() {
    return code_count;
}

CodeRegion code_region_at(std::size_t index) {
    return code_regions[index];
}

std::size_t region_count() {
    return count;
}

Region region_at(std::size_t index) {
    return regions[index];
}

const Region* region_of(std::uint64_t address) {
    std::size_t low = 0;
    std::size_t high = count;
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (regions[middle].high <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && regions[low].low <= address ? &regions[low] : nullptr;
}

}  // namespace steelyard::layout
