// Frames of a finished program that can be made larger by changing numbers in its code and in its
// frame tables.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "call_frames.hpp"
#include "plan.hpp"

namespace steelyard {

/// A number of the program to which the growth of a frame is added.
struct FrameField {
    enum class Form : std::uint8_t { two_complement, uleb };
    std::uint64_t address;
    std::uint8_t bytes;
    Form form;
};

/// A function whose frame can grow, or why it cannot.
struct GrowableFrame {
    std::uint64_t start;
    std::vector<FrameField> fields;
    std::string reason;
};

/// Some code by its virtual address.
struct CodeBytes {
    std::uint64_t address = 0;
    std::span<const std::uint8_t> bytes;
};

/// The room of a frame lies between its locals and the registers that the function saves, or, where
/// there is a frame pointer, below the locals. `pads` are addresses of numbers that a compiler left
/// for this, by rising address.
///
/// A frame cannot grow where it is not seen that all that depends on its size changes with it: the
/// one instruction that makes it, those that release it, what is read of the caller's frame, and
/// the tables.
std::vector<GrowableFrame> growable_frames(std::span<const PlannedFunction> functions,
                                           CodeBytes code, CallFrames& frames,
                                           std::span<const std::uint64_t> pads);

}  // namespace steelyard
