// Which functions of a program align their stack to more than the 16 bytes that all callers keep.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "call_frames.hpp"
#include "growable_frames.hpp"

namespace steelyard {

struct AligningFunction {
    std::uint64_t start;
    std::int64_t alignment_bytes;
    /// From the canonical frame address down to the stack pointer that is aligned; nothing where
    /// that varies, or where the function may call others without having aligned its stack.
    std::optional<std::int64_t> depth;
};

/// By rising start. Throws Malformed where frame tables are damaged.
std::vector<AligningFunction> aligning_functions(std::span<const PlannedFunction> functions,
                                                 CodeBytes code, CallFrames& frames);

}  // namespace steelyard
