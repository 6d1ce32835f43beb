#include "unwinder.hpp"

#include <execinfo.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "byte_reader.hpp"
#include "frame_expression.hpp"
#include "side_band.hpp"
#include "tests.hpp"

namespace {

using steelyard::address_register;
using steelyard::ByteReader;
using steelyard::expression_value;
using steelyard::FilePlace;
using steelyard::frame_register;
using steelyard::Malformed;
using steelyard::Mapping;
using steelyard::Registers;
using steelyard::stack_register;
using steelyard::StackCopy;
using steelyard::StackMemory;
using steelyard::Unwinder;

constexpr std::size_t copied_bytes = 8192;
constexpr int most_callers = 32;

struct Seen {
    Registers registers{};
    std::vector<std::byte> stack;
    std::vector<std::uint64_t> callers;  // as the C library finds them
};

/// Where this test itself is, from all registers and the stack.
[[gnu::noinline]] void look(Seen& seen) {
    Registers& at = seen.registers;
    asm volatile(
        "movq %%rbx, 24(%0)\n\tmovq %%rbp, 48(%0)\n\tmovq %%rsp, 56(%0)\n\t"
        "movq %%r12, 96(%0)\n\tmovq %%r13, 104(%0)\n\tmovq %%r14, 112(%0)\n\t"
        "movq %%r15, 120(%0)\n\tleaq 0(%%rip), %%rcx\n\tmovq %%rcx, 128(%0)"
        :
        : "r"(at.data())
        : "rcx", "memory");
    seen.stack.resize(copied_bytes);
    const iovec from{std::bit_cast<void*>(at[stack_register]), copied_bytes};
    const iovec to{seen.stack.data(), copied_bytes};
    const ssize_t copied = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    CHECK(copied > 0);
    seen.stack.resize(static_cast<std::size_t>(copied));
    std::array<void*, most_callers> found{};
    const int count = backtrace(found.data(), most_callers);
    for (int index = 0; index < count; ++index)
        seen.callers.push_back(
            reinterpret_cast<std::uint64_t>(found.at(static_cast<std::size_t>(index))));
}

[[gnu::noinline]] int below(Seen& seen, int depth) {
    std::array<volatile char, 300> room{};
    room.at(static_cast<std::size_t>(depth)) = 1;
    if (depth == 0)
        look(seen);
    else
        below(seen, depth - 1);
    return room.at(0);
}

std::vector<std::uint64_t> unwound(const Seen& seen) {
    const auto mappings = steelyard::present_mappings(getpid(), 0);
    const auto lookup = [&](std::uint64_t address) -> std::optional<FilePlace> {
        for (const Mapping& mapping : mappings) {
            if (address >= mapping.start && address - mapping.start < mapping.length)
                return FilePlace{&mapping.path, mapping.offset + address - mapping.start};
        }
        return std::nullopt;
    };
    Unwinder unwinder;
    return unwinder.chain(StackCopy{seen.registers, seen.stack}, lookup);
}

TEST("callers are those that the C library finds, through functions without frame pointers") {
    Seen seen;
    below(seen, 5);
    const auto chain = unwound(seen);
    CHECK(seen.callers.size() > 6);
    CHECK(chain.size() >= seen.callers.size());
    for (std::size_t index = 1; index < seen.callers.size(); ++index)
        CHECK(chain.at(index) == seen.callers.at(index));
}

TEST("callers from a comparison inside of the C library are found by its tables") {
    static Seen seen;
    std::array<int, 2> values{2, 1};
    qsort(values.data(), values.size(), sizeof values[0], [](const void*, const void*) {
        look(seen);
        return 0;
    });
    const auto chain = unwound(seen);
    for (std::size_t index = 1; index < seen.callers.size(); ++index)
        CHECK(chain.at(index) == seen.callers.at(index));
}

TEST("a stack that was copied in part gives the callers that are in it") {
    Seen seen;
    below(seen, 20);
    seen.stack.resize(2048);
    const auto chain = unwound(seen);
    CHECK(chain.size() > 2);
    CHECK(chain.size() < seen.callers.size());
    for (std::size_t index = 1; index < chain.size(); ++index)
        CHECK(chain.at(index) == seen.callers.at(index));
}

TEST("code without tables is left by its frame pointer") {
    std::array<std::uint64_t, 8> stack{};
    Registers registers{};
    const auto base = reinterpret_cast<std::uint64_t>(stack.data());
    registers[stack_register] = base;
    registers[frame_register] = base + 16;
    registers[address_register] = 0x1000;
    stack[2] = base + 40;
    stack[3] = 0x2000;
    stack[5] = 0;
    stack[6] = 0x3000;
    const std::string nowhere = "//anon";
    Unwinder unwinder;
    const auto bytes = std::as_bytes(std::span(stack));
    const auto chain = unwinder.chain(
        StackCopy{registers, bytes}, [&](std::uint64_t address) -> std::optional<FilePlace> {
            return address < 0x3000 ? std::optional(FilePlace{&nowhere, address}) : std::nullopt;
        });
    CHECK((chain == std::vector<std::uint64_t>{0x1000, 0x2000, 0x3000}));
}

std::uint64_t value_of(const std::vector<int>& program, const Registers& registers) {
    std::vector<std::byte> bytes(program.size());
    std::ranges::transform(program, bytes.begin(),
                           [](int byte) { return static_cast<std::byte>(byte); });
    return expression_value(bytes, registers, StackMemory({}, 0), 0);
}

TEST("the frame of an entry of the linkage table depends on how far it has come") {
    // As linkers write it: sp + 8 + ((ip & 15) >= 11) * 8.
    const std::vector<int> program{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
    Registers registers{};
    registers[stack_register] = 1000;
    registers[address_register] = 0x40a;
    CHECK(value_of(program, registers) == 1008);
    registers[address_register] = 0x40b;
    CHECK(value_of(program, registers) == 1016);
}

TEST("damaged tables are told from whole ones") {
    bool refused = false;
    try {
        value_of({0x22}, Registers{});
    } catch (const Malformed&) {
        refused = true;
    }
    CHECK(refused);
    const std::array<std::byte, 3> endless{std::byte{0xff}, std::byte{0xff}, std::byte{0xff}};
    ByteReader reader(endless, 0);
    refused = false;
    try {
        reader.take_uleb();
    } catch (const Malformed&) {
        refused = true;
    }
    CHECK(refused);
}

TEST("numbers of variable length are read as DWARF gives them in its examples") {
    // DWARF 5, tables 7.7 and 7.8.
    const std::array<std::byte, 9> bytes{std::byte{0x02}, std::byte{0x80}, std::byte{0x01},
                                         std::byte{0xb9}, std::byte{0x64}, std::byte{0x7e},
                                         std::byte{0xff}, std::byte{0x7e}, std::byte{0x7f}};
    ByteReader reader(bytes, 0);
    CHECK(reader.take_uleb() == 2);
    CHECK(reader.take_uleb() == 128);
    CHECK(reader.take_uleb() == 12857);
    CHECK(reader.take_sleb() == -2);
    CHECK(reader.take_sleb() == -129);
    CHECK(reader.take_sleb() == -1);
    CHECK(reader.at_end());
}

}  // namespace

TEST("code of which nothing is said is left by the frame pointer, or by what is on top") {
    // A function that has put nothing on the stack, called by one that has a frame.
    const std::array<std::uint64_t, 4> words{0x2000, 0, 0, 0x3000};
    constexpr std::uint64_t top = 0x7000;
    const std::string nowhere = "/no/such/file";
    const auto known = [&](std::uint64_t address) -> std::optional<FilePlace> {
        if (address < 0x1000 || address > 0x4000)
            return std::nullopt;
        return FilePlace{&nowhere, address};
    };
    steelyard::StackCopy copy{{}, std::as_bytes(std::span(words))};
    copy.registers[address_register] = 0x1000;
    copy.registers[stack_register] = top;
    Unwinder unwinder;
    CHECK((unwinder.chain(copy, known) == std::vector<std::uint64_t>{0x1000, 0x2000}));
    CHECK(unwinder.reached_start());
    copy.registers[frame_register] = top + 16;
    CHECK((unwinder.chain(copy, known) == std::vector<std::uint64_t>{0x1000, 0x3000}));
    CHECK(unwinder.reached_start());
    copy.registers[frame_register] = 1;
    CHECK((unwinder.chain(copy, known) == std::vector<std::uint64_t>{0x1000, 0x2000}));
    CHECK(!unwinder.reached_start());
}
