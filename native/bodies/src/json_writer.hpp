// Writes JSON: texts, numbers, and columns of numbers as base64 of their bytes.

#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace steelyard {

/// Collects a text and writes it out whenever it is long, and at the end.
class JsonWriter {
  public:
    explicit JsonWriter(std::ostream& out) : out_(out) {}
    ~JsonWriter() { flush(); }
    JsonWriter(const JsonWriter&) = delete;
    JsonWriter& operator=(const JsonWriter&) = delete;
    JsonWriter(JsonWriter&&) = delete;
    JsonWriter& operator=(JsonWriter&&) = delete;

    void raw(std::string_view text) { text_ += text; }
    void number(std::uint64_t value) { text_ += std::to_string(value); }
    /// Bytes that are no ASCII become what Python's surrogateescape makes of them.
    void text(std::string_view value);
    void key(std::string_view name);

    template <typename Items, typename Write>
    void list(const Items& items, Write write) {
        text_ += '[';
        bool first = true;
        for (const auto& item : items) {
            if (!first)
                text_ += ',';
            first = false;
            write(item);
            if (text_.size() > flush_bytes)
                flush();
        }
        text_ += ']';
    }

    template <typename Items, typename Take>
    void texts(std::string_view name, const Items& items, Take take) {
        key(name);
        list(items, [&](const auto& item) { text(take(item)); });
    }

    /// A column of numbers as base64 (RFC 4648, section 4) of their bytes, the lowest byte first.
    template <typename Number>
    void column(std::string_view name, std::span<const Number> values) {
        key(name);
        base64(std::as_bytes(values));
    }

  private:
    static constexpr std::size_t flush_bytes = 1U << 20U;

    void escaped(const char* format, unsigned byte);
    void base64(std::span<const std::byte> bytes);
    void flush();

    std::ostream& out_;
    std::string text_;
    bool needs_comma_ = false;
};

}  // namespace steelyard
