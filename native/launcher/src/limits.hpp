// The resource limits of setrlimit(2), found by the names that people give them.

#pragma once

#include <sys/resource.h>

#include <optional>
#include <string_view>

namespace steelyard {

/// A resource limit to set on a program, soft and hard alike.
struct Limit {
    int resource;
    rlim_t value;
};

/// The resource that setrlimit(2) calls RLIMIT_`name`, in either case of letters.
std::optional<int> resource_by_name(std::string_view name);

}  // namespace steelyard
