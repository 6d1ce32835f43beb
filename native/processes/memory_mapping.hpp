// The lines of /proc/PID/maps; proc(5).

#pragma once

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>

namespace steelyard {

/// One mapping of a process.
struct MemoryMapping {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;
    std::uint64_t inode = 0;
    bool executable = false;
    std::string path;
};

/// Reads one line; nothing where it is none.
inline std::optional<MemoryMapping> mapping_of_line(const std::string& line) {
    MemoryMapping mapping;
    std::istringstream words(line);
    std::string permissions;
    std::string device;
    char dash = 0;
    words >> std::hex >> mapping.start >> dash >> mapping.end >> permissions >> mapping.offset >>
        device >> std::dec >> mapping.inode;
    if (!words || permissions.size() < 3)
        return std::nullopt;
    mapping.executable = permissions[2] == 'x';
    words >> std::ws;
    std::getline(words, mapping.path);
    return mapping;
}

}  // namespace steelyard
