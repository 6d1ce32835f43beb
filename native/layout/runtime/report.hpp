// Tells what moved, when the program exits: the document that STEELYARD_LAYOUT_REPORT asks for.

#pragma once

namespace steelyard::layout {

/// Writes what was done to the file that the environment names, as JSON.
void write_report();

}  // namespace steelyard::layout
