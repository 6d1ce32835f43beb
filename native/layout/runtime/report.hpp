#pragma once

namespace steelyard::layout {

/// Writes what was done to the file that the environment names, as JSON.
void write_report();

}  // namespace steelyard::layout
