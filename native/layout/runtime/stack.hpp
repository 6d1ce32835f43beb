#pragma once

namespace steelyard::layout {

/// Gives the main thread a larger stack, and says up to where its frames are padded.
void start_stack();

}  // namespace steelyard::layout
