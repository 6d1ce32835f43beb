#include "decode.hpp"

#include <initializer_list>
#include <vector>

#include "tests.hpp"

using namespace steelyard;

namespace {

std::optional<Instruction> of(std::initializer_list<int> bytes) {
    const std::vector<std::uint8_t> code(bytes.begin(), bytes.end());
    return decode(code);
}

bool has(std::initializer_list<int> bytes, Field field, int offset) {
    const auto found = of(bytes);
    return found && found->length == bytes.size() && found->field == field &&
           found->field_offset == offset;
}

std::int64_t distance(std::initializer_list<std::uint8_t> bytes) {
    const std::vector<std::uint8_t> code(bytes);
    const auto found = decode(code);
    CHECK(found);
    return found ? field_distance(*found, code) : 0;
}

}  // namespace

TEST("fields say how far they lead, also backwards") {
    CHECK(distance({0xe8, 1, 2, 0, 0}) == 0x201);
    CHECK(distance({0xe8, 0xfe, 0xff, 0xff, 0xff}) == -2);
    CHECK(distance({0xeb, 0x80}) == -128);
    CHECK(distance({0xeb, 0x7f}) == 127);
    CHECK(distance({0x48, 0x8d, 0x05, 0, 0, 0, 0x80}) == -0x80000000LL);
    CHECK(distance({0xc3}) == 0);
}

TEST("branches are found with their fields") {
    CHECK(has({0xe8, 1, 2, 3, 4}, Field::call, 1));
    CHECK(has({0x66, 0x66, 0x48, 0xe8, 1, 2, 3, 4}, Field::call, 4));  // a TLS sequence
    CHECK(has({0x67, 0xe8, 1, 2, 3, 4}, Field::call, 2));              // relaxed `call *slot`
    CHECK(has({0xe9, 1, 2, 3, 4}, Field::jump, 1));
    CHECK(has({0xeb, 1}, Field::jump, 1));
    CHECK(has({0x74, 1}, Field::jump, 1));
    CHECK(has({0x0f, 0x84, 1, 2, 3, 4}, Field::jump, 2));
    CHECK(has({0xe2, 1}, Field::jump, 1));
}

TEST("operands relative to the next instruction are found before immediates") {
    CHECK(has({0x48, 0x8d, 0x05, 1, 2, 3, 4}, Field::address, 3));
    CHECK(has({0x48, 0x8b, 0x05, 1, 2, 3, 4}, Field::memory, 3));
    CHECK(has({0x80, 0x3d, 1, 2, 3, 4, 9}, Field::memory, 2));
    CHECK(has({0x66, 0xc7, 0x05, 1, 2, 3, 4, 9, 9}, Field::memory, 3));
    CHECK(has({0xf7, 0x05, 1, 2, 3, 4, 9, 9, 9, 9}, Field::memory, 2));  // testl
    CHECK(has({0xf7, 0x1d, 1, 2, 3, 4}, Field::memory, 2));              // negl
    CHECK(has({0x66, 0x0f, 0x3a, 0x0f, 0x05, 1, 2, 3, 4, 9}, Field::memory, 5));
    CHECK(has({0xff, 0x25, 1, 2, 3, 4}, Field::memory, 2));
}

TEST("vector instructions have their lengths") {
    CHECK(has({0xc5, 0xf8, 0x77}, Field::none, 0));
    CHECK(has({0xc5, 0xf9, 0x6f, 0x05, 1, 2, 3, 4}, Field::memory, 4));
    CHECK(has({0xc4, 0xe3, 0x75, 0x46, 0xc2, 0x31}, Field::none, 0));
    CHECK(has({0x62, 0xf1, 0xfd, 0x48, 0x6f, 0x05, 1, 2, 3, 4}, Field::memory, 6));
    CHECK(has({0x62, 0xf3, 0xfd, 0x48, 0x25, 0xc1, 0xff}, Field::none, 0));
    CHECK(has({0xc5, 0xf9, 0x70, 0xc0, 0x4e}, Field::none, 0));
}

TEST("plain instructions have their lengths and no field") {
    CHECK(has({0x55}, Field::none, 0));
    CHECK(has({0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, Field::none, 0));
    CHECK(has({0x66, 0xb8, 1, 2}, Field::none, 0));
    CHECK(has({0x8b, 0x84, 0x24, 1, 2, 3, 4}, Field::none, 0));
    CHECK(has({0x8b, 0x04, 0x25, 1, 2, 3, 4}, Field::none, 0));
    CHECK(has({0x8b, 0x44, 0x24, 1}, Field::none, 0));
    CHECK(has({0xf3, 0x0f, 0x1e, 0xfa}, Field::none, 0));  // endbr64
    CHECK(has({0x0f, 0xa2}, Field::none, 0));
    CHECK(has({0xc8, 1, 2, 3}, Field::none, 0));
}

TEST("what is cut off or no instruction is refused") {
    CHECK(!of({}));
    CHECK(!of({0xe8, 1, 2}));
    CHECK(!of({0x48, 0x8b}));
    CHECK(!of({0x06}));
    CHECK(!of({0x67, 0x8b, 0x05, 1, 2, 3, 4}));
    CHECK(!of({0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
               0x66, 0x90}));
}
