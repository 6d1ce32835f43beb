#include "json.hpp"

#include <charconv>

namespace steelyard {

namespace {

/// Length of the well-formed UTF-8 sequence at the start of `text`, or 0 (Unicode, table 3-7).
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t at) {
        return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
    };
    const auto continues = [&](std::size_t at) { return (byte(at) & 0xc0u) == 0x80u; };
    const unsigned first = byte(0);
    const unsigned second = byte(1);
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return continues(1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        const bool overlong = first == 0xe0 && second < 0xa0;
        const bool surrogate = first == 0xed && second > 0x9f;
        return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        const bool overlong = first == 0xf0 && second < 0x90;
        const bool beyond = first == 0xf4 && second > 0x8f;
        return continues(1) && continues(2) && continues(3) && !overlong && !beyond ? 4 : 0;
    }
    return 0;
}

void append_escape(std::string& out, unsigned code) {
    constexpr char digits[] = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4)
        out += digits[code >> shift & 15];
}

void append_ascii(std::string& out, char letter) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
        out += '\\';
        out += letter;
    } else if (letter == '\n') {
        out += "\\n";
    } else if (code < 0x20 || code == 0x7f) {
        append_escape(out, code);
    } else {
        out += letter;
    }
}

}  // namespace

void append_string(std::string& out, std::string_view text, Invalid invalid) {
    out += '"';
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 1) {
            append_ascii(out, text.front());
        } else if (length > 1) {
            out += text.substr(0, length);
        } else if (invalid == Invalid::replace) {
            append_escape(out, 0xfffd);
        } else {
            append_escape(out, 0xdc00u + static_cast<unsigned char>(text.front()));
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    out += '"';
}

void append_integer(std::string& out, std::int64_t value) {
    char digits[24];
    const auto result = std::to_chars(digits, digits + sizeof digits, value);
    out.append(digits, result.ptr);
}

void append_boolean(std::string& out, bool value) {
    out += value ? "true" : "false";
}

}  // namespace steelyard
