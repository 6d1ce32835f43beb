#include "held_values.hpp"

#include <utility>

namespace steelyard {

HeldValue HeldValues::number_of(HeldMeaning meaning) {
    const auto [known, is_new] =
        numbers_.emplace(std::move(meaning), static_cast<HeldValue>(meanings_.size()));
    if (is_new)
        meanings_.push_back(known->first);
    return known->second;
}

HeldValue HeldValues::joined(HeldValue one, HeldValue other) {
    if (one == other || other == nothing)
        return one;
    if (one == nothing)
        return other;
    if (one == anything || other == anything || meanings_[one].table || meanings_[other].table)
        return anything;
    HeldMeaning both = meanings_[one];
    both.functions.insert(meanings_[other].functions.begin(), meanings_[other].functions.end());
    return number_of(std::move(both));
}

HeldState HeldValues::joined(const HeldState& one, const HeldState& other) {
    HeldState found = one;
    for (std::size_t at = 0; at < found.registers.size(); ++at)
        found.registers.at(at) = joined(one.registers.at(at), other.registers.at(at));
    for (std::size_t at = 0; at < found.vectors.size(); ++at)
        found.vectors.at(at) = joined(one.vectors.at(at), other.vectors.at(at));
    found.others = joined(one.others, other.others);
    for (auto& [place, value] : found.words) {
        const auto known = other.words.find(place);
        value = joined(value, known == other.words.end() ? other.others : known->second);
    }
    for (const auto& [place, value] : other.words)
        found.words.try_emplace(place, joined(value, one.others));
    return found;
}

}  // namespace steelyard
