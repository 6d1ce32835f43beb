#pragma once

#include <string>
#include <string_view>

namespace steelyard::layout {

/// Assembly that the compiler wrote, with a random pad in the frame of each function that calls
/// others.
///
/// Behind the prologue stands `subq pad(%rip), %rsp`, passed over where the stack is deep;
/// epilogues take the stack pointer from the frame pointer, so they need not know the pad. Locals
/// lie above it at fixed distances from the frame pointer, arguments and callees' frames below it,
/// and the CFA is the frame pointer's, so unwinding is as before. Pads are eight bytes each in the
/// section `steelyard_pads`; functions without one are named in `.steelyard.unpadded`, with the
/// reason.
///
/// Text without clang's `.ident` was written by people and is given back as it is.
std::string with_pads(std::string_view assembly);

}  // namespace steelyard::layout
