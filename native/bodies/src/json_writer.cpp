#include "json_writer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>

namespace steelyard {

static_assert(std::endian::native == std::endian::little);

void JsonWriter::text(std::string_view value) {
    text_ += '"';
    for (const char one : value) {
        const auto byte = static_cast<unsigned char>(one);
        if (byte >= 0x80)
            escaped("\\udc%02x", byte);
        else if (byte < 0x20 || byte == 0x7f)
            escaped("\\u00%02x", byte);
        else if (one == '"' || one == '\\')
            (text_ += '\\') += one;
        else
            text_ += one;
    }
    text_ += '"';
    if (text_.size() > flush_bytes)
        flush();
}

void JsonWriter::key(std::string_view name) {
    text_ += needs_comma_ ? ",\n" : "{";
    needs_comma_ = true;
    text(name);
    text_ += ':';
}

void JsonWriter::escaped(const char* format, unsigned byte) {
    std::array<char, 8> buffer{};
    std::snprintf(buffer.data(), buffer.size(), format, byte);
    text_ += buffer.data();
}

void JsonWriter::base64(std::span<const std::byte> bytes) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text_ += '"';
    text_.reserve(text_.size() + bytes.size() / 3 * 4 + 8);
    for (; !bytes.empty(); bytes = bytes.subspan(std::min<std::size_t>(3, bytes.size()))) {
        const auto octet = [&](std::size_t at) {
            return at < bytes.size() ? std::to_integer<unsigned>(bytes[at]) : 0U;
        };
        const unsigned group = octet(0) << 16U | octet(1) << 8U | octet(2);
        text_ += letters[group >> 18U];
        text_ += letters[group >> 12U & 63U];
        text_ += bytes.size() > 1 ? letters[group >> 6U & 63U] : '=';
        text_ += bytes.size() > 2 ? letters[group & 63U] : '=';
    }
    text_ += '"';
    if (text_.size() > flush_bytes)
        flush();
}

void JsonWriter::flush() {
    out_ << text_;
    text_.clear();
}

}  // namespace steelyard
