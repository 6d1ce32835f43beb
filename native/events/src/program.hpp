// The one program whose events are wanted: the first that a child of the watched process executes,
// with its threads and all that it starts.

#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "following.hpp"
#include "tracking.hpp"

namespace steelyard {

class Program {
  public:
    /// Takes what was told of the children of the watched process, in the order of time.
    void take(const Happening& happening);

    /// Whether `process` belongs to it and has begun to run what it executed: what happens before
    /// that is the kernel's, and has no stack. `address` is where it is.
    bool runs(std::uint32_t process, std::uint64_t time_ns, std::uint64_t address);

    std::optional<FilePlace> place_of(std::uint32_t process, std::uint64_t address) const {
        return following_.place_of(process, address);
    }

  private:
    bool has_begun_ = false;
    Following following_;
    std::set<std::uint32_t> running_;
};

}  // namespace steelyard
