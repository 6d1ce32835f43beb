// The sled of a function: no-operations at its entry, which a delay can be written over.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace steelyard {

/// Where in a function's first bytes its sled begins: behind an `endbr64`, if it has one. Nothing
/// where fewer than `wanted` bytes of no-operations stand there.
std::optional<std::size_t> sled_offset(std::span<const std::uint8_t> entry, std::size_t wanted);

/// Turns `turns` times round a loop of two instructions, in 11 bytes.
/// %r11 is the one register that a call may always destroy and that carries no argument.
std::vector<std::uint8_t> compute_delay(std::uint32_t turns);

/// Follows `turns` links of a chain, each a load that waits for the one before, in 30 bytes.
/// The link reached is kept at `cursor`, so that the next call goes on from there; threads that
/// keep each other's links still follow the chain. At a function's entry nothing below the stack
/// pointer is in use, so that a second register can be kept there.
std::vector<std::uint8_t> memory_delay(std::uint32_t turns, std::uint32_t cursor);

}  // namespace steelyard
