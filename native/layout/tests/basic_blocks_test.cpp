#include "basic_blocks.hpp"

#include <string>
#include <vector>

#include "tests.hpp"

using namespace steelyard;
using namespace steelyard::layout;

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t start = 0x1000;

/// Decodes as the relinker does, and cuts.
std::vector<Block> cut(const Bytes& code, std::string& reason,
                       const std::vector<std::uint64_t>& table_targets = {}) {
    Function function;
    function.start = start;
    function.end = start + code.size();
    for (std::size_t at = 0; at < code.size();) {
        const auto decoded = decode(std::span(code).subspan(at));
        if (!decoded)
            break;
        const auto& found = *decoded;
        if (found.field != Field::none) {
            const std::size_t field = at + found.field_offset;
            const auto near = static_cast<std::int8_t>(code[field]);
            function.fields.push_back({static_cast<std::uint32_t>(field), found.field,
                                       found.field_bytes, start + at + found.length + near,
                                       near < 0});
        }
        at += found.length;
    }
    return basic_blocks(function, code, table_targets, reason);
}

std::string refusal(const Bytes& code, const std::vector<std::uint64_t>& table_targets = {}) {
    std::string reason;
    return cut(code, reason, table_targets).empty() ? reason : "none";
}

}  // namespace

TEST("a branch ends a block and what it leads to begins one") {
    std::string reason;
    // test %edi, %edi; je 9; mov $1, %eax; 9: ret
    const auto blocks = cut({0x85, 0xff, 0x74, 0x05, 0xb8, 0x01, 0x00, 0x00, 0x00, 0xc3}, reason);
    CHECK(reason.empty());
    CHECK(blocks.size() == 3);
    CHECK(blocks[0].end == BlockEnd::branches);
    CHECK(blocks[0].bytes == 2U);
    CHECK(blocks[0].condition == 4U);
    CHECK(blocks[0].taken == 2U);
    CHECK(blocks[1].end == BlockEnd::falls);
    CHECK(blocks[1].start == 4U);
    CHECK(blocks[2].end == BlockEnd::stops);
    CHECK(blocks[2].bytes == 1U);
}

TEST("a jump back and the place that a table leads to begin blocks") {
    std::string reason;
    // 0: nop; nop; inc %eax; jmp 1; ret
    const auto blocks = cut({0x90, 0x90, 0xff, 0xc0, 0xeb, 0xfb, 0xc3}, reason, {start + 2});
    CHECK(reason.empty());
    CHECK(blocks.size() == 4);
    CHECK(blocks[2].end == BlockEnd::jumps);
    CHECK(blocks[2].start == 2U);
    CHECK(blocks[2].taken == 1U);
}

TEST("what cannot be taken apart is given with its reason") {
    // jrcxz 3; nop; 3: ret
    CHECK(refusal({0xe3, 0x01, 0x90, 0xc3}) == "it has a jump that cannot be made longer");
    // jmp 3, which is inside of mov
    CHECK(refusal({0xeb, 0x01, 0xb8, 0x01, 0x00, 0x00, 0x00, 0xc3}) ==
          "a jump leads into an instruction");
    CHECK(refusal({0x90, 0xc3}, {start + 2}) == "a jump table leads to its end");
}
