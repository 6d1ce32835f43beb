// Which keys are believed: those whose stacks were walked often enough without a new path.

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "walk_filter.hpp"

namespace steelyard {

/// A function of a process, in its memory, and where its frame begins.
struct WalkedKey {
    std::uint32_t process = 0;
    std::uint64_t function = 0;
    std::uint64_t frame = 0;

    auto operator<=>(const WalkedKey&) const = default;
};

/// What a walk changes.
struct Belief {
    std::vector<LookPlace> believed;
    std::vector<LookPlace> doubted;
};

class WalkedKeys {
  public:
    /// A key with one path is believed after so many walks of it; one with several, whose shares
    /// are wanted too, after so many since it had a new one.
    static constexpr unsigned walks_of_one = 3, walks_of_several = 32;

    /// A stack was walked at `place`, and had this path (a number that is equal where paths are).
    Belief walked(const WalkedKey& key, LookPlace place, std::uint64_t path);

  private:
    struct Known {
        std::set<std::uint64_t> paths;
        unsigned walks = 0;  // since there was a new path
        std::vector<LookPlace> places;
        bool is_believed = false;
    };

    std::map<WalkedKey, Known> keys_;
};

}  // namespace steelyard
