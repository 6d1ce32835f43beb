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

/// What `string_delay` reads of its buffer at most: little beside the nearest cache.
constexpr std::uint32_t delay_buffer_bytes = 1024;

/// Reads `turns` bytes, one after the other, by one instruction for each `delay_buffer_bytes`, in
/// 29 bytes. A processor predicts branches by those before, so a loop with a branch for each turn
/// makes it forget the program's own: that slows what runs after the function, and by a step where
/// a loop grows longer than what is remembered. This one takes no branch, or few.
/// %r11 is the one register that a call may always destroy and that carries no argument; the others
/// are kept on the stack, where nothing below its pointer is in use at a function's entry.
std::vector<std::uint8_t> string_delay(std::uint32_t turns, std::uint32_t buffer);

/// Turns `turns` times round a loop of two instructions, in 11 bytes: where no buffer can be
/// mapped, for profilers that count instructions.
std::vector<std::uint8_t> loop_delay(std::uint32_t turns);

/// Follows `turns` links of a chain, each a load that waits for the one before, in 30 bytes.
/// The link reached is kept at `cursor`, so that the next call goes on from there; threads that
/// keep each other's links still follow the chain. At a function's entry nothing below the stack
/// pointer is in use, so that a second register can be kept there.
std::vector<std::uint8_t> memory_delay(std::uint32_t turns, std::uint32_t cursor);

}  // namespace steelyard
