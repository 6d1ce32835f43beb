// What registers and words of the stack may hold, as numbers that are joined where ways meet.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace steelyard {

using HeldValue = std::uint32_t;
constexpr HeldValue nothing = 0, anything = 1;

/// A table, by where it begins; or functions, where that is not given.
struct HeldMeaning {
    std::optional<std::uint64_t> table;
    std::set<std::uint64_t> functions;

    auto operator<=>(const HeldMeaning&) const = default;
};

/// What is known before an instruction.
struct HeldState {
    std::array<HeldValue, 16> registers{};
    std::array<HeldValue, 16> vectors{};      ///< what any of their words may hold
    std::map<std::int64_t, HeldValue> words;  ///< of the stack, by their distance to its frame
    HeldValue others = nothing;               ///< its other words

    bool operator==(const HeldState&) const = default;
};

class HeldValues {
  public:
    HeldValue number_of(HeldMeaning meaning);
    const HeldMeaning& meaning_of(HeldValue value) const { return meanings_[value]; }
    HeldValue joined(HeldValue one, HeldValue other);
    HeldState joined(const HeldState& one, const HeldState& other);

  private:
    std::vector<HeldMeaning> meanings_{2};
    std::map<HeldMeaning, HeldValue> numbers_;
};

}  // namespace steelyard
