// A method's code with the delay before it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "class_constants.hpp"

namespace steelyard {

/// The name, the length and the content of an attribute.
void put_attribute(Writer& out, std::uint16_t name, std::span<const std::uint8_t> content);

/// The attribute `Code` that `in` holds, with the delay first. `parameters` counts the local
/// variables that the method's parameters take. Throws Malformed where there is no room.
Bytes delayed_code(Reader in, const Constants& constants, std::size_t parameters,
                   bool wants_frames);

}  // namespace steelyard
