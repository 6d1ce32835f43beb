// The one program whose events are wanted: the first that a child of the watched process executes,
// with its threads and all that it starts.

#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "following.hpp"
#include "side_band.hpp"

namespace steelyard {

enum class Whose {
    strangers,
    kernels,  // that loads what a process of the program executes: there is no stack yet
    programs,
};

class Program {
  public:
    /// Takes what was told of the children of the watched process, in the order of time.
    void take(const SideBandRecord& record);

    /// Whose what happens in `process` is. `address` is where it is.
    Whose whose(std::uint32_t process, std::uint64_t time_ns, std::uint64_t address);

    std::optional<FilePlace> place_of(std::uint32_t process, std::uint64_t address) const {
        return following_.place_of(process, address);
    }

  private:
    bool has_begun_ = false;
    // What the kernel does until then is no part of it.
    bool has_run_ = false;
    Following following_;
    std::set<std::uint32_t> running_;
};

}  // namespace steelyard
