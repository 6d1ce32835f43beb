// Programs of anybody: the whole ELF file.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <sstream>

#include "byte_reader.hpp"
#include "document.hpp"
#include "fatal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::ostringstream told;
    try {
        steelyard::write_bodies(std::as_bytes(std::span(data, size)), told);
    } catch (const steelyard::Fatal&) {
        // As in main.cpp: a sentence, and the end.
    } catch (const steelyard::Malformed&) {
        // The same.
    } catch (const std::exception&) {
        // The same.
    }
    return 0;
}
