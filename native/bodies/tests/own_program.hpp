// The program of these tests itself, as one that is read.

#pragma once

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "functions.hpp"
#include "program_file.hpp"

/// Its bytes, which last until the program ends.
inline steelyard::Bytes own_bytes() {
    static const std::vector<char> bytes = [] {
        std::ifstream file("/proc/self/exe", std::ios::binary);
        return std::vector<char>(std::istreambuf_iterator<char>(file), {});
    }();
    return std::as_bytes(std::span(bytes));
}

/// The function of that name; its place in the list, or -1.
inline std::ptrdiff_t place_of(const std::vector<steelyard::Function>& functions,
                               std::string_view name) {
    for (std::size_t at = 0; at < functions.size(); ++at) {
        if (functions[at].name == name)
            return static_cast<std::ptrdiff_t>(at);
    }
    return -1;
}
