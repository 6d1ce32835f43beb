// Which scope an entry stands in: the entries of a file say of themselves only what they hold.

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "debug_file.hpp"

namespace steelyard {

/// The scopes of one unit: namespaces, types and functions.
class Scopes {
  public:
    explicit Scopes(const Unit& unit);

    /// The innermost scope around an entry; 0: the unit itself.
    std::uint64_t around(std::uint64_t offset) const;
    /// The types without a name in a scope, in the order of entries, such as those of lambdas.
    std::vector<std::uint64_t> unnamed_types(std::uint64_t scope) const;

  private:
    struct Scope {
        std::uint64_t offset;
        std::uint64_t parent;
    };

    std::vector<Scope> scopes_;
    std::multimap<std::uint64_t, std::uint64_t> unnamed_types_;  // by scope
};

}  // namespace steelyard
