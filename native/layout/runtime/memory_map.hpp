// Reads /proc/self/maps, without libc, for the searches that need to know where stacks and code
// lie.

#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard::layout {

/// Readable and writable memory; the stacks are among it.
struct Region {
    std::uint64_t low, high;
};

void prepare_memory_map();
/// Reads the memory map of the process; false where it cannot be read whole.
bool read_memory_map();
/// Executable memory of a file, with the last part of its path, up to the end of a line.
struct CodeRegion {
    std::uint64_t low, high;
    const char* name;
};
std::size_t code_region_count();
CodeRegion code_region_at(std::size_t index);

std::size_t region_count();
Region region_at(std::size_t index);
/// Which region an address was in when the map was read last; null where in none.
const Region* region_of(std::uint64_t address);

/// Reads the number that a text of the kernel's begins with; the text then begins behind it.
std::uint64_t hexadecimal(const char*& text);

}  // namespace steelyard::layout
