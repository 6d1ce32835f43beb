// Sections as a compiler would write them, field by field.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "sections.hpp"

class WrittenBytes {
  public:
    template <typename Value>
    WrittenBytes& put(Value value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    WrittenBytes& u8(std::uint8_t value) { return put(value); }
    WrittenBytes& u16(std::uint16_t value) { return put(value); }
    WrittenBytes& u32(std::uint32_t value) { return put(value); }
    WrittenBytes& u64(std::uint64_t value) { return put(value); }
    /// Numbers below 128 as LEB128 writes them, one byte each.
    WrittenBytes& small(std::initializer_list<std::uint8_t> values) {
        for (const std::uint8_t value : values)
            put(value);
        return *this;
    }
    WrittenBytes& text(std::string_view value) {
        for (const char letter : value)
            put(letter);
        return u8(0);
    }
    /// The size of what follows the first four bytes goes into these.
    WrittenBytes& close_unit() {
        const auto length = static_cast<std::uint32_t>(bytes_.size() - sizeof(std::uint32_t));
        std::memcpy(bytes_.data(), &length, sizeof length);
        return *this;
    }

    steelyard::Bytes bytes() const { return std::as_bytes(std::span(bytes_)); }

  private:
    std::string bytes_;
};
