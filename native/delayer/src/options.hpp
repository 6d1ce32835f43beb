// The command line of the delayer.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace steelyard {

struct Options {
    /// The file that holds the function.
    std::string object;
    /// The function's place in that file.
    std::uint64_t offset = 0;
    /// Turns of the delay for each call; 0 leaves the sled as it is.
    std::uint32_t turns = 0;
    /// Bytes of memory that the delay walks through; 0: it only computes.
    std::uint32_t memory_bytes = 0;
    /// The file for the program's times, or empty.
    std::string times;
    /// The file for a copy of the object with the delay in it, or empty.
    std::string copy;
    /// NAME=VALUE, for the program alone.
    std::vector<std::string> environment;
    /// The program with its arguments; ends with a null pointer.
    char** command = nullptr;
};

/// Reads the words behind the program's name.
///
/// Throws Fatal where a word is unknown, misses its value, or is no number.
Options options_from(char** words);

}  // namespace steelyard
