// Debugging information of anybody's program: the sections of one file, and addresses in it.

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <sstream>
#include <string>

#include "answer.hpp"
#include "fatal.hpp"

namespace {

/// In the order in which an input has their sizes, in four bytes each, and then their bytes.
constexpr std::array names{".debug_info",     ".debug_abbrev",      ".debug_str",
                           ".debug_line_str", ".debug_str_offsets", ".debug_addr",
                           ".debug_ranges",   ".debug_rnglists",    ".debug_line"};

std::string request(const std::uint8_t* data, std::size_t size, const std::string& file) {
    std::ostringstream asked;
    std::size_t at = names.size() * sizeof(std::uint32_t);
    for (std::size_t index = 0; index < names.size(); ++index) {
        std::uint32_t bytes = 0;
        std::memcpy(&bytes, data + index * sizeof bytes, sizeof bytes);
        const std::size_t taken = std::min<std::size_t>(bytes, size - at);
        asked << "section\tmain\t" << names[index] << '\t' << file << '\t' << at << '\t' << taken
              << '\n';
        at += taken;
    }
    asked << "code\t0\t100000\n";
    for (int address = 0x1000; address < 0x1400; address += 0x20)
        asked << "address\t" << std::hex << address << std::dec << '\n';
    asked << "end\n";
    return asked.str();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const int file = memfd_create("fuzz", 0);
    if (size < names.size() * sizeof(std::uint32_t) || ftruncate(file, 0) != 0 ||
        pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
        return 0;
    std::istringstream asked(request(data, size, "/proc/self/fd/" + std::to_string(file)));
    std::ostringstream told;
    try {
        steelyard::answer(asked, told);
    } catch (const steelyard::Fatal&) {
        // As in main.cpp: a sentence, and the end.
    } catch (const std::exception&) {
        // The same.
    }
    return 0;
}
