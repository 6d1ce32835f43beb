// Copies files, folders and symbolic links from one open folder to another, without following any.

#pragma once

#include <string>
#include <vector>

namespace steelyard {

/// Copies what lies in the folder `from` into the folder `into`, which are open. What is mounted
/// within is not entered, and devices, FIFOs and sockets are left out. Permissions and times of
/// change are kept; names in `left_out` are passed over at the top. Throws Fatal, which names the
/// path that could not be copied.
void copy_tree(int from, int into, const std::vector<std::string>& left_out = {});

}  // namespace steelyard
