// Writes the few kinds of JSON values that records are made of, without a library.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace steelyard {

/// What becomes of bytes that are not UTF-8.
enum class Invalid {
    replace,   ///< U+FFFD, for text that people read
    surrogate  ///< U+DC80 to U+DCFF, from which Python gets the bytes back, for paths
};

/// Appends `text` as a JSON string in ASCII and UTF-8.
void append_string(std::string& out, std::string_view text, Invalid invalid = Invalid::replace);

void append_integer(std::string& out, std::int64_t value);

void append_boolean(std::string& out, bool value);

}  // namespace steelyard
