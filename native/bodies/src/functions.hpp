// The functions of a program: by its symbols, or by its unwinding tables where names were stripped.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "program_file.hpp"

namespace steelyard {

/// A function; `name` is empty where it was stripped.
struct Function {
    std::string_view name;
    std::uint64_t address = 0;
    std::uint64_t size = 0;

    bool holds(std::uint64_t at) const { return at >= address && at - address < size; }
};

/// All functions by rising address, one for each.
std::vector<Function> find_functions(const ProgramFile& file);

/// The one that an address is in; -1 where none is.
std::int64_t function_at(const std::vector<Function>& functions, std::uint64_t address);

}  // namespace steelyard
