// Reads one value out of bytes that may be damaged.

#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "byte_reader.hpp"

namespace steelyard {

template <typename Value>
Value value_at(std::span<const std::byte> bytes, std::uint64_t offset) {
    if (offset > bytes.size() || sizeof(Value) > bytes.size() - offset)
        throw Malformed();
    Value value{};
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

}  // namespace steelyard
