#include "sled.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests.hpp"

namespace {

std::vector<std::uint8_t> repeated(std::uint8_t byte, std::size_t count) {
    return std::vector<std::uint8_t>(count, byte);
}

std::uint32_t word_at(const std::vector<std::uint8_t>& code, std::size_t place) {
    std::uint32_t word = 0;
    std::memcpy(&word, code.data() + place, sizeof word);
    return word;
}

}  // namespace

TEST("sixteen single no-operations are a sled") {
    CHECK(steelyard::sled_offset(repeated(0x90, 16), 11) == 0U);
}

TEST("a sled stands behind the mark of a branch target") {
    std::vector<std::uint8_t> entry{0xf3, 0x0f, 0x1e, 0xfa};
    entry.insert(entry.end(), 16, 0x90);
    CHECK(steelyard::sled_offset(entry, 11) == 4U);
}

// nopw 0x200(%rax,%rax,1) with a prefix twice: what clang writes for long sleds.
TEST("long no-operations are a sled as well") {
    const std::vector<std::uint8_t> entry{0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00,
                                          0x02, 0x00, 0x00, 0x0f, 0x1f, 0x44, 0x00, 0x08};
    CHECK(steelyard::sled_offset(entry, 11) == 0U);
}

TEST("a function without room has no sled") {
    std::vector<std::uint8_t> entry = repeated(0x90, 10);
    entry.push_back(0x55);  // push %rbp
    entry.insert(entry.end(), 16, 0x90);
    CHECK(!steelyard::sled_offset(entry, 11));
    CHECK(!steelyard::sled_offset(repeated(0x90, 10), 11));
    CHECK(!steelyard::sled_offset(repeated(0x55, 32), 11));
}

TEST("a delay by strings fits in 32 bytes, and keeps the registers that carry arguments") {
    const auto code = steelyard::string_delay(700, 0x40001000);
    CHECK(code.size() == 29);
    const std::vector<std::uint8_t> pushed(code.begin(), code.begin() + 3);
    const std::vector<std::uint8_t> popped(code.end() - 3, code.end());
    CHECK(pushed == (std::vector<std::uint8_t>{0x50, 0x51, 0x56}));
    CHECK(popped == (std::vector<std::uint8_t>{0x5e, 0x59, 0x58}));
    CHECK(word_at(code, 5) == 1);
    CHECK(word_at(code, 10) == 0x40001000);
    CHECK(word_at(code, 15) == 700);
    // From behind the jump back to where the buffer's address is loaded.
    CHECK(26 + static_cast<std::int8_t>(code[25]) == 9);
}

TEST("a delay by strings of more turns than its buffer has bytes reads it as often as it must") {
    for (const std::uint32_t turns : {1U, 1023U, 1024U, 1025U, 2047U, 100'000U, 4'000'000'000U}) {
        const auto code = steelyard::string_delay(turns, 0x40001000);
        const std::uint64_t rounds = word_at(code, 5);
        const std::uint64_t bytes = word_at(code, 15);
        CHECK(bytes >= 1 && bytes <= steelyard::delay_buffer_bytes);
        CHECK(rounds == (turns + 1023ULL) / 1024);
        // Off by half a byte a round at most.
        const auto difference = static_cast<std::int64_t>(rounds * bytes) - turns;
        CHECK(2 * std::abs(difference) <= static_cast<std::int64_t>(rounds));
    }
}

TEST("a delay by a loop carries its number of turns and jumps back to the decrement") {
    const auto code = steelyard::loop_delay(0x01020304);
    CHECK(code[2] == 4 && code[5] == 1);
    // From behind the jump back over jump (2 bytes) and decrement (3).
    CHECK(static_cast<std::int8_t>(code[10]) == -5);
}

TEST("a sled is long enough for what is to be written, or none") {
    CHECK(steelyard::sled_offset(repeated(0x90, 32), 30) == 0U);
    CHECK(!steelyard::sled_offset(repeated(0x90, 29), 30));
}

TEST("a delay by memory fits in 32 bytes, jumps back to its load, and keeps the link") {
    const auto code = steelyard::memory_delay(7, 0x40001000);
    CHECK(code.size() == 30);
    CHECK(code[0] == 0x51 && code[29] == 0x59);
    CHECK(code[2] == 7);
    // Load of the cursor, and the store to it.
    CHECK(code[10] == 0x00 && code[11] == 0x10 && code[13] == 0x40);
    CHECK(code[25] == 0x00 && code[26] == 0x10 && code[28] == 0x40);
    // From behind the jump back over jump (2 bytes), decrement (2) and load (3).
    CHECK(static_cast<std::int8_t>(code[20]) == -7);
}
