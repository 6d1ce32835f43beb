#include "class_file.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace steelyard {

namespace {

// Tags of constants, JVMS table 4.4-A.
constexpr std::uint8_t tag_utf8 = 1, tag_class = 7, tag_field = 9, tag_name_and_type = 12;
constexpr std::uint16_t access_static = 0x0008;
constexpr std::uint16_t access_public = 0x0001;
constexpr std::uint32_t magic = 0xcafebabe;
// Java 6: the first class files that must hold maps of their frames.
constexpr std::uint16_t first_with_frames = 50;

struct Malformed {};

class Reader {
  public:
    explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    std::uint8_t u1() { return take(1)[0]; }
    std::uint16_t u2() {
        const auto part = take(2);
        return static_cast<std::uint16_t>(part[0] << 8U | part[1]);
    }
    std::uint32_t u4() {
        const std::uint32_t high = u2();
        return high << 16U | u2();
    }
    std::span<const std::uint8_t> take(std::size_t count) {
        if (count > bytes_.size() - at_)
            throw Malformed{};
        at_ += count;
        return bytes_.subspan(at_ - count, count);
    }
    std::span<const std::uint8_t> since(std::size_t begin) const {
        return bytes_.subspan(begin, at_ - begin);
    }
    std::size_t at() const { return at_; }

  private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
};

class Writer {
  public:
    void u1(std::size_t value) { bytes.push_back(static_cast<std::uint8_t>(value)); }
    void u2(std::size_t value) {
        u1(value >> 8U);
        u1(value);
    }
    void u4(std::size_t value) {
        u2(value >> 16U);
        u2(value);
    }
    void put(std::span<const std::uint8_t> part) {
        bytes.insert(bytes.end(), part.begin(), part.end());
    }
    void text(std::string_view value) {
        u1(tag_utf8);
        u2(value.size());
        bytes.insert(bytes.end(), value.begin(), value.end());
    }

    Bytes bytes;
};

std::string text_of(std::span<const std::uint8_t> bytes) {
    return {bytes.begin(), bytes.end()};
}

/// Constants of a class as far as they are needed, and where the ones of the delay will stand.
struct Constants {
    std::vector<std::string> texts;  ///< by index; empty where it is no text
    std::uint16_t count = 0;
    std::uint16_t turns_field = 0;
    std::uint16_t sink_field = 0;
    std::uint16_t frames_name = 0;

    const std::string& text(std::uint16_t index) const {
        if (index >= texts.size())
            throw Malformed{};
        return texts[index];
    }
};

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

/// Copies the constants and adds those of the delay.
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

/// The local variables that the parameters of a method take.
std::size_t parameter_locals(std::string_view descriptor, bool is_static) {
    std::size_t count = is_static ? 0 : 1;
    std::size_t at = 1;
    while (at < descriptor.size() && descriptor[at] != ')') {
        const bool wide = descriptor[at] == 'J' || descriptor[at] == 'D';
        while (at < descriptor.size() && descriptor[at] == '[')
            ++at;
        if (at < descriptor.size() && descriptor[at] == 'L')
            at = descriptor.find(';', at);
        if (at >= descriptor.size())
            throw Malformed{};
        ++at;
        count += wide ? 2 : 1;
    }
    return count;
}

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
    constexpr std::size_t loop_bytes = 25;
    out.u1(0xa2);  // if_icmpge, to behind the loop
    out.u2(loop_bytes - 4);
    local(iload, value);
    out.u1(0x11);  // sipush: a multiplier of a full period, Knuth volume 2, 3.2.1.2
    out.u2(0x0a45);
    out.u1(0x68);  // imul
    out.u1(0x11);
    out.u2(0x0c39);
    out.u1(0x60);  // iadd
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

void put_attribute(Writer& out, std::uint16_t name, std::span<const std::uint8_t> content) {
    out.u2(name);
    out.u4(content.size());
    out.put(content);
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

Bytes delayed_code(Reader in, const Constants& constants, std::size_t parameters,
                   bool wants_frames) {
    const Delay delay = delay_for(constants, parameters);
    const std::size_t shift = delay.code.size();
    Writer out;
    out.u2(std::max<std::size_t>(in.u2(), 2));
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

/// Copies fields, which nothing changes in, from their count on.
void copy_fields(Reader& in, Writer& out) {
    const std::size_t begin = in.at();
    for (std::uint16_t fields = in.u2(); fields > 0; --fields) {
        in.take(6);
        for (std::uint16_t attributes = in.u2(); attributes > 0; --attributes) {
            in.take(2);
            in.take(in.u4());
        }
    }
    out.put(in.since(begin));
}

/// Copies methods with the delay in those of that name; how many those are.
std::size_t copy_methods(Reader& in, Writer& out, const Constants& constants,
                         std::string_view wanted, bool wants_frames) {
    std::size_t delayed = 0;
    std::uint16_t methods = in.u2();
    out.u2(methods);
    for (; methods > 0; --methods) {
        const std::uint16_t access = in.u2(), name = in.u2(), descriptor = in.u2();
        out.u2(access);
        out.u2(name);
        out.u2(descriptor);
        const std::size_t parameters =
            parameter_locals(constants.text(descriptor), (access & access_static) != 0);
        std::uint16_t attributes = in.u2();
        out.u2(attributes);
        for (; attributes > 0; --attributes) {
            const std::uint16_t attribute = in.u2();
            const auto content = in.take(in.u4());
            if (constants.text(name) != wanted || constants.text(attribute) != "Code") {
                put_attribute(out, attribute, content);
                continue;
            }
            put_attribute(out, attribute,
                          delayed_code(Reader(content), constants, parameters, wants_frames));
            ++delayed;
        }
    }
    return delayed;
}

}  // namespace

Bytes delay_class_file() {
    Writer out;
    out.u4(magic);
    out.u4(49);  // of Java 5: no frames are needed
    out.u2(8);
    out.text(delay_class);  // 1
    out.u1(tag_class);      // 2
    out.u2(1);
    out.text("java/lang/Object");  // 3
    out.u1(tag_class);             // 4
    out.u2(3);
    out.text("turns");  // 5
    out.text("sink");   // 6
    out.text("I");      // 7
    out.u2(access_public | 0x0020U);
    out.u2(2);
    out.u2(4);
    out.u2(0);  // interfaces
    out.u2(2);  // fields
    for (const std::size_t name : {5U, 6U}) {
        out.u2(access_public | access_static);
        out.u2(name);
        out.u2(7);
        out.u2(0);
    }
    out.u2(0);  // methods
    out.u2(0);  // attributes
    return std::move(out.bytes);
}

std::optional<Bytes> with_delay(std::span<const std::uint8_t> class_file, std::string_view method) {
    // A constructor may not store before it has called that of its superclass.
    if (method.starts_with('<'))
        return std::nullopt;
    try {
        Reader in(class_file);
        Writer out;
        if (in.u4() != magic)
            return std::nullopt;
        const std::uint16_t minor = in.u2(), major = in.u2();
        out.u4(magic);
        out.u2(minor);
        out.u2(major);
        const Constants constants = copy_constants(in, out);
        out.put(in.take(6));
        const std::uint16_t interfaces = in.u2();
        out.u2(interfaces);
        out.put(in.take(std::size_t{interfaces} * 2));
        copy_fields(in, out);
        if (copy_methods(in, out, constants, method, major >= first_with_frames) == 0)
            return std::nullopt;
        out.put(in.take(class_file.size() - in.at()));
        return std::move(out.bytes);
    } catch (const Malformed&) {
        return std::nullopt;
    }
}

}  // namespace steelyard
