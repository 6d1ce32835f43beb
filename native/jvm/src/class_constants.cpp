#include "class_constants.hpp"

#include <limits>

#include "class_file.hpp"

namespace steelyard {

namespace {

std::string text_of(std::span<const std::uint8_t> bytes) {
    return {bytes.begin(), bytes.end()};
}
/// How many bytes a constant takes behind its tag.
std::size_t constant_bytes(std::uint8_t tag) {
    switch (tag) {
        case 3:
        case 4:
        case tag_field:
        case 10:
        case 11:
        case tag_name_and_type:
        case 17:
        case 18:
            return 4;
        case 5:
        case 6:
            return 8;
        case tag_class:
        case 8:
        case 16:
        case 19:
        case 20:
            return 2;
        case 15:
            return 3;
        default:
            throw Malformed{};
    }
}

}  // namespace

Constants copy_constants(Reader& in, Writer& out) {
    constexpr std::uint16_t added = 10;
    Constants constants;
    constants.count = in.u2();
    const std::size_t begin = in.at();
    if (constants.count > std::numeric_limits<std::uint16_t>::max() - added)
        throw Malformed{};
    constants.texts.resize(constants.count);
    for (std::size_t index = 1; index < constants.count; ++index) {
        const std::uint8_t tag = in.u1();
        if (tag == tag_utf8) {
            constants.texts[index] = text_of(in.take(in.u2()));
            continue;
        }
        const std::size_t bytes = constant_bytes(tag);
        in.take(bytes);
        // long and double count twice, by what the specification itself calls a poor choice.
        if (bytes == 8)
            ++index;
    }
    out.u2(constants.count + std::size_t{added});
    out.put(in.since(begin));
    const std::size_t first = constants.count;
    out.text(delay_class);  // first
    out.u1(tag_class);      // + 1
    out.u2(first);
    out.text("I");              // + 2
    out.text("turns");          // + 3
    out.text("sink");           // + 4
    out.u1(tag_name_and_type);  // + 5
    out.u2(first + 3);
    out.u2(first + 2);
    out.u1(tag_name_and_type);  // + 6
    out.u2(first + 4);
    out.u2(first + 2);
    out.u1(tag_field);  // + 7
    out.u2(first + 1);
    out.u2(first + 5);
    out.u1(tag_field);  // + 8
    out.u2(first + 1);
    out.u2(first + 6);
    out.text("StackMapTable");  // + 9
    constants.turns_field = static_cast<std::uint16_t>(first + 7);
    constants.sink_field = static_cast<std::uint16_t>(first + 8);
    constants.frames_name = static_cast<std::uint16_t>(first + 9);
    return constants;
}

}  // namespace steelyard
