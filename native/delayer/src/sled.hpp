// The sled of a function: no-operations at its entry, which a delay can be written over.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace steelyard {

/// Long enough for `delay_code`; what `-fpatchable-function-entry=16` leaves room for.
constexpr std::size_t delay_bytes = 11;

/// Where in a function's first bytes its sled begins: behind an `endbr64`, if it has one. Nothing
/// where fewer than `delay_bytes` of no-operations stand there.
std::optional<std::size_t> sled_offset(std::span<const std::uint8_t> entry);

/// Turns `turns` times round a loop of two instructions: mov $turns,%r11d; 1: dec %r11d; jnz 1b.
/// %r11 is the one register that a call may always destroy and that carries no argument.
std::array<std::uint8_t, delay_bytes> delay_code(std::uint32_t turns);

}  // namespace steelyard
