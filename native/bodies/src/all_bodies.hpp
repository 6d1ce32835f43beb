// The bodies of all functions of a program, read by several threads.

#pragma once

#include <vector>

#include "body.hpp"

namespace steelyard {

/// Reads every function, in their order. Places in `references` are as one thread would have
/// numbered them, however many there are.
std::vector<Body> read_all(const ProgramFile& file, const std::vector<Function>& functions,
                           References& references);

/// The same by so many threads; fewer where the system gives no more.
std::vector<Body> read_all(const ProgramFile& file, const std::vector<Function>& functions,
                           References& references, std::size_t threads);

}  // namespace steelyard
