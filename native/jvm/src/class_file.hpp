// Writes a delay into methods of a class file.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "class_bytes.hpp"

namespace steelyard {

/// The class whose fields the delay reads and writes, as class files name it.
constexpr std::string_view delay_class = "steelyard/Delay";

/// The class file of `delay_class`: its static fields `turns` and `sink`, both int.
Bytes delay_class_file();

/// The class file with a delay at the beginning of every method called `method`; nothing where it
/// has no such method with code, or one in which there is no room.
///
/// The delay is a loop that counts an int up to `Delay.turns` and multiplies another, which is
/// stored in `Delay.sink` behind it: the same bytecode whatever the amount. The optimising compiler
/// of HotSpot polls for safepoints in such a loop only if -XX:+UseCountedLoopSafepoints is on.
///
/// Its variables lie where the body's own will begin, behind the parameters, since the body cannot
/// read there what it did not write. (The Java Virtual Machine Specification, chapter 4.)
std::optional<Bytes> with_delay(std::span<const std::uint8_t> class_file, std::string_view method);

}  // namespace steelyard
