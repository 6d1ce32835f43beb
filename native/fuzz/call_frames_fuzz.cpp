// An ELF file of anybody: its segments, its build id, and the way from each of its functions to the
// caller.

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "call_frames.hpp"
#include "elf_file.hpp"
#include "frame_expression.hpp"

namespace {

using steelyard::RegisterRule;

void follow(const RegisterRule& rule) {
    if (rule.kind != RegisterRule::Kind::expression &&
        rule.kind != RegisterRule::Kind::val_expression)
        return;
    const std::array<std::byte, 64> stack{};
    const steelyard::StackMemory memory(stack, 0x7fff0000);
    steelyard::Registers registers{};
    registers.fill(0x7fff0000);
    try {
        steelyard::expression_value(rule.program, registers, memory, 0x7fff0010);
    } catch (...) {
        // A program that cannot be followed is refused by what calls this.
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const int file = memfd_create("fuzz", 0);
    if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
        return 0;
    auto elf = steelyard::ElfFile::open("/proc/self/fd/" + std::to_string(file));
    if (!elf)
        return 0;
    elf->build_id();
    elf->address_of(size / 2);
    steelyard::CallFrames frames(std::move(elf));
    for (std::uint64_t address = 0; address < 0x2000; address += 0x40) {
        const steelyard::UnwindRow* row = frames.at(address);
        if (row == nullptr)
            continue;
        follow(row->cfa);
        for (const RegisterRule& rule : row->registers)
            follow(rule);
    }
    return 0;
}
