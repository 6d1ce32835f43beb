// The archive that `collect.sh` names: which names and which files are taken.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace steelyard {

/// The name that a collect script has printed, relative to `folder`, the package's own inside.
/// Throws Fatal where it printed none, several lines, or a name that leads elsewhere.
std::string printed_name(std::string_view printed, std::string_view folder);

/// Copies the file `name` below the open folder into the open file `into`; its size. Throws Fatal
/// where it is no plain file there, or larger than `most_bytes`.
std::int64_t copy_result(int folder, const std::string& name, int into, std::int64_t most_bytes);

}  // namespace steelyard
