/// Makes the functions of a linked program movable: decodes them, checks them against the
/// relocations that the linker kept, and writes what it found into the program.
///
///   steelyard-relink PARTS INTERVAL_NS SEED PROGRAM
#include <cstdio>
#include <exception>
#include <span>
#include <string>

#include "audit.hpp"
#include "elf_image.hpp"
#include "movable_functions.hpp"
#include "table_writer.hpp"

using namespace steelyard::layout;

namespace {

std::span<const std::uint8_t> as_bytes(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void relink(const std::string& path, const Wishes& wishes) {
    ElfImage image(path);
    if (image.has_section(".steelyard.layout"))
        throw ImageError("has a layout table already");
    const Functions functions(image);
    const auto table = layout_table(image, functions, wishes);
    const std::string told = audit(image, functions, wishes);
    image.append_section(".steelyard.layout", table);
    image.append_section(".steelyard.audit", as_bytes(told));
    image.write(path);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 5) {
        std::fputs("usage: steelyard-relink PARTS INTERVAL_NS SEED PROGRAM\n", stderr);
        return 2;
    }
    const std::string path = arguments[4];
    try {
        relink(path, {static_cast<std::uint32_t>(std::stoul(arguments[1])),
                      std::stoull(arguments[2]), std::stoull(arguments[3])});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "steelyard-relink: %s %s\n", path.c_str(), error.what());
        return 1;
    }
    return 0;
}
