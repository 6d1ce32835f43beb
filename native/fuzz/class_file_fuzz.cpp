// A class file of anybody, into which a delay is written.

#include <cstddef>
#include <cstdint>
#include <span>

#include "class_bytes.hpp"
#include "class_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        steelyard::with_delay(std::span(data, size), "turns");
        steelyard::with_delay(std::span(data, size), "run");
    } catch (const steelyard::Malformed&) {
        // What is no class file is left as it is.
    }
    return 0;
}
