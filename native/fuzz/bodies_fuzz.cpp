// Programs of anybody: the whole ELF file.

#include <array>
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
        const auto bytes = std::as_bytes(std::span(data, size));
        steelyard::write_bodies(bytes, told);
        constexpr std::array<std::size_t, 2> places{0, 1};
        steelyard::write_steps(bytes, places, told);
    } catch (const steelyard::Fatal&) {
        // As in main.cpp: a sentence, and the end.
    } catch (const steelyard::Malformed&) {
        // The same.
    } catch (const std::exception&) {
        // The same.
    }
    return 0;
}
