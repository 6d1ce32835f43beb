// Makes room on stacks for the pads of frames, and sets the depth at which padding stops.

#pragma once

namespace steelyard::layout {

/// Gives the main thread a larger stack, and says up to where its frames are padded.
void start_stack();

}  // namespace steelyard::layout
