// The first process of a container: it makes the root, runs what it is asked to, and when it ends
// everything in the container has ended.

#pragma once

#include "clean_process.hpp"
#include "options.hpp"
#include "root.hpp"

namespace steelyard {

/// Makes the root, writes "ok" or what failed to `ready`, and serves the socket `requests` until
/// it is asked to end.
[[noreturn]] void be_init(const Options& options, const Source& source, const Place& place,
                          int requests, int ready);

}  // namespace steelyard
