#include "class_file.hpp"

#include <utility>

#include "class_constants.hpp"
#include "delayed_code.hpp"

namespace steelyard {

namespace {

constexpr std::uint16_t access_static = 0x0008;
constexpr std::uint16_t access_public = 0x0001;
constexpr std::uint32_t magic = 0xcafebabe;
// Java 6: the first class files that must hold maps of their frames.
constexpr std::uint16_t first_with_frames = 50;

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
