#include "delayed_code.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace steelyard {

namespace {

constexpr std::size_t delay_stack_words = 3;

/// The delay's code, and where in it frames must be told of.
struct Delay {
    Bytes code;
    std::size_t loop_at = 0;
    std::size_t end_at = 0;
    std::size_t last_at = 0;
};

Delay delay_for(const Constants& constants, std::size_t first_local) {
    const std::size_t turns = first_local, value = first_local + 1, index = first_local + 2;
    constexpr std::size_t iload = 0x15, istore = 0x36, iconst_0 = 0x03, iconst_1 = 0x04;
    Delay delay;
    Writer out;
    const auto local = [&out](std::size_t operation, std::size_t number) {
        out.u1(operation);
        out.u1(number);
    };
    out.u1(0xb2);  // getstatic
    out.u2(constants.turns_field);
    local(istore, turns);
    out.u1(iconst_1);
    local(istore, value);
    out.u1(iconst_0);
    local(istore, index);
    delay.loop_at = out.bytes.size();
    local(iload, index);
    local(iload, turns);
    constexpr std::size_t loop_bytes = 27;
    out.u1(0xa2);  // if_icmpge, to behind the loop
    out.u2(loop_bytes - 4);
    // Turns that the compiler cannot put together: of x * a + b it makes one multiplication for
    // many.
    local(iload, value);
    out.u1(0x11);  // sipush: a multiplier of a full period, Knuth volume 2, 3.2.1.2
    out.u2(0x0a45);
    out.u1(0x68);  // imul
    local(iload, value);
    out.u1(0x10);  // bipush
    out.u1(15);
    out.u1(0x7c);  // iushr
    out.u1(0x82);  // ixor
    local(istore, value);
    out.u1(0x84);  // iinc
    out.u1(index);
    out.u1(1);
    out.u1(0xa7);  // goto
    out.u2(static_cast<std::uint16_t>(delay.loop_at - out.bytes.size() + 1));
    delay.end_at = out.bytes.size();
    local(iload, value);
    out.u1(0xb3);  // putstatic
    out.u2(constants.sink_field);
    // The body must begin at a multiple of four, for its switches are padded to one.
    do {
        delay.last_at = out.bytes.size();
        out.u1(0x00);  // nop
    } while (out.bytes.size() % 4 != 0);
    delay.code = std::move(out.bytes);
    return delay;
}

/// The frames of the delay: its three variables at the loop and behind it, none at its last byte,
/// which leaves the distance to the first frame of the body as it was.
void put_frames(Writer& out, const Delay& delay) {
    constexpr std::size_t append_3 = 254, chop_3 = 248, integer = 1;
    out.u1(append_3);
    out.u2(delay.loop_at);
    for (int variable = 0; variable < 3; ++variable)
        out.u1(integer);
    out.u1(delay.end_at - delay.loop_at - 1);  // same_frame: less than 64
    out.u1(chop_3);
    out.u2(delay.last_at - delay.end_at - 1);
}

void copy_type(Reader& in, Writer& out, std::size_t shift) {
    constexpr std::uint8_t object = 7, uninitialised = 8;
    const std::uint8_t kind = in.u1();
    out.u1(kind);
    if (kind == object)
        out.u2(in.u2());
    else if (kind == uninitialised)
        out.u2(in.u2() + shift);  // where the object was made
}

/// Copies a frame; JVMS 4.7.4. Distances between frames stay; the places of `new` move.
void copy_frame(Reader& in, Writer& out, std::size_t shift) {
    const std::uint8_t kind = in.u1();
    out.u1(kind);
    if (kind >= 247)
        out.u2(in.u2());
    std::size_t types = 0;
    if ((kind >= 64 && kind < 128) || kind == 247)
        types = 1;
    else if (kind >= 252 && kind < 255)
        types = kind - std::size_t{251};
    for (; types > 0; --types)
        copy_type(in, out, shift);
    if (kind != 255)
        return;
    for (int part = 0; part < 2; ++part) {
        std::uint16_t count = in.u2();
        out.u2(count);
        for (; count > 0; --count)
            copy_type(in, out, shift);
    }
}

Bytes frames_with(const Delay& delay, Reader* in) {
    Writer out;
    const std::uint16_t count = in != nullptr ? in->u2() : 0;
    out.u2(count + std::size_t{3});
    put_frames(out, delay);
    for (std::uint16_t frame = 0; frame < count; ++frame)
        copy_frame(*in, out, delay.code.size());
    return std::move(out.bytes);
}

/// A table whose rows begin with a place in the code: lines, and names of variables.
Bytes shifted_table(Reader in, std::size_t row_bytes, std::size_t shift) {
    Writer out;
    std::uint16_t rows = in.u2();
    out.u2(rows);
    for (; rows > 0; --rows) {
        out.u2(in.u2() + shift);
        out.put(in.take(row_bytes - 2));
    }
    return std::move(out.bytes);
}

/// Copies the attributes of the code, as far as they outlive a shift of it.
void copy_code_attributes(Reader& in, Writer& out, const Constants& constants, const Delay& delay,
                          bool wants_frames) {
    Writer kept;
    std::size_t kept_count = 0;
    bool has_frames = false;
    const auto keep = [&](std::uint16_t name, const Bytes& content) {
        put_attribute(kept, name, content);
        ++kept_count;
    };
    const std::size_t shift = delay.code.size();
    for (std::uint16_t left = in.u2(); left > 0; --left) {
        const std::uint16_t name = in.u2();
        Reader content(in.take(in.u4()));
        const std::string& text = constants.text(name);
        if (text == "StackMapTable") {
            has_frames = true;
            keep(name, frames_with(delay, &content));
        } else if (text == "LineNumberTable") {
            keep(name, shifted_table(content, 4, shift));
        } else if (text == "LocalVariableTable" || text == "LocalVariableTypeTable") {
            keep(name, shifted_table(content, 10, shift));
        }
    }
    if (wants_frames && !has_frames)
        keep(constants.frames_name, frames_with(delay, nullptr));
    out.u2(kept_count);
    out.put(kept.bytes);
}

}  // namespace

void put_attribute(Writer& out, std::uint16_t name, std::span<const std::uint8_t> content) {
    out.u2(name);
    out.u4(content.size());
    out.put(content);
}

Bytes delayed_code(Reader in, const Constants& constants, std::size_t parameters,
                   bool wants_frames) {
    const Delay delay = delay_for(constants, parameters);
    const std::size_t shift = delay.code.size();
    Writer out;
    out.u2(std::max<std::size_t>(in.u2(), delay_stack_words));
    out.u2(std::max(static_cast<std::size_t>(in.u2()), parameters + 3));
    const std::uint32_t length = in.u4();
    constexpr std::size_t longest_code = 65535;
    if (length + shift > longest_code || parameters + 3 > std::numeric_limits<std::uint8_t>::max())
        throw Malformed{};
    out.u4(length + shift);
    out.put(delay.code);
    out.put(in.take(length));
    std::uint16_t handlers = in.u2();
    out.u2(handlers);
    for (; handlers > 0; --handlers) {
        for (int place = 0; place < 3; ++place)
            out.u2(in.u2() + shift);
        out.u2(in.u2());
    }
    copy_code_attributes(in, out, constants, delay, wants_frames);
    return std::move(out.bytes);
}

}  // namespace steelyard
