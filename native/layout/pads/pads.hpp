// Rewrites the assembly that clang wrote, so that the runtime can make each stack frame larger by a
// random pad.

#pragma once

#include <string>
#include <string_view>

namespace steelyard::layout {

/// Assembly that the compiler wrote, with a random pad in the frame of each function that calls
/// others.
///
/// Behind the prologue stands `subq $pad, %rsp`, before the pops of each epilogue `addq $pad,
/// %rsp`; where the function moves the stack pointer there itself, one instruction does both. The
/// immediates are what the function takes itself until the runtime adds the pad to them in the
/// copies of the function, another one in each, so a frame is released by the pad that it was made
/// with. Locals lie above the pad at fixed distances from the frame pointer, arguments and callees'
/// frames below it, and the CFA is the frame pointer's, so unwinding is as before. The section
/// `.debug_steelyard_pads` holds the addresses of the immediates (its name lets the linker drop
/// those of functions that it drops); functions without a pad are named in `.steelyard.unpadded`,
/// with the reason.
///
/// Text without clang's `.ident` was written by people and is given back as it is.
std::string with_pads(std::string_view assembly);

/// Whether clang wrote it.
bool is_compiled(std::string_view assembly);

}  // namespace steelyard::layout
