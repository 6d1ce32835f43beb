// What a container is asked to be: its kind, its root, its limits, and what is to be run in it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace steelyard {

/// Who a benchmark is within its container: `contained` is a user without privileges in
/// namespaces of its own, `trusted` is root on a root file system of its own.
enum class Kind { contained, trusted };

/// One call of the program.
struct Options {
    std::string action;  ///< hold, build, collect, end
    std::string state;   ///< a directory of this container alone, which `hold` makes
    Kind kind = Kind::contained;
    std::string image;    ///< root file system; empty: the host's own
    std::string package;  ///< a folder that is copied to /package
    std::string layer;    ///< what `build` has saved: begun from in the place of `package`
    std::string save;     ///< where `build` saves what is there when its command has ended
    std::string result;   ///< where `collect` writes the archive of results
    std::string report;   ///< where `collect` writes what it has found, as JSON
    std::vector<std::string> readable;  ///< paths of the host that are seen, as they are there
    std::vector<std::string> writable;
    bool network = false;
    std::int64_t processes = 0;  ///< limits; 0 is none
    std::int64_t memory_bytes = 0;
    std::int64_t disk_bytes = 0;
    std::int64_t inodes = 0;
    std::int64_t output_bytes = 0;
    std::int64_t result_bytes = 0;
    std::int64_t time_ms = 0;
    std::vector<std::string> command;  ///< what follows `--`
};

/// The options of a command line. Throws Fatal on what is not known.
Options options_from(int count, const char* const* words);

}  // namespace steelyard
