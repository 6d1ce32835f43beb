#include "inlining.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "dwarf.hpp"

namespace steelyard {

namespace {

constexpr int most_steps = 16;
// A damaged file may nest the same code in itself without end.
constexpr std::size_t longest_chain = 1024;

/// The entry that all copies of a function refer to.
Place origin_of(const Unit& unit, const Die& die) {
    Place place{&unit, die.offset};
    Die here = die;
    for (int step = 0; step < most_steps && here.has(Slot::abstract_origin); ++step) {
        place = place.unit->file->target(*place.unit, here.value(Slot::abstract_origin));
        here = die_at(*place.unit, place.offset);
    }
    return place;
}

}  // namespace

Inlining::Inlining(std::vector<std::uint64_t> addresses, std::vector<Range> code)
    : addresses_(std::move(addresses)),
      code_(std::move(code)),
      chains_(addresses_.size()),
      owner_of_(addresses_.size()) {}

bool Inlining::is_code(std::uint64_t address) const {
    // What a linker left out stays described, at addresses where there is nothing.
    return code_.empty() || std::ranges::any_of(code_, [address](const Range& range) {
               return address >= range.low && address < range.high;
           });
}

bool Inlining::may_be_in(const Unit& unit) const {
    if (unit.tag == dwarf::tag_partial_unit || unit.type_die != 0)
        return false;
    try {
        const Die root = die_at(unit, unit.first_die);
        const auto ranges = ranges_of(unit, root);
        return ranges.empty() || std::ranges::any_of(ranges, [this](const Range& range) {
                   const auto first = std::ranges::lower_bound(addresses_, range.low);
                   return first != addresses_.end() && *first < range.high;
               });
    } catch (const Malformed&) {
        return true;
    }
}

void Inlining::add(const Unit& unit) {
    try {
        walk(unit);
    } catch (const Malformed&) {
        return;  // What was found before it stays.
    }
}

void Inlining::walk(const Unit& unit) {
    DieReader reader(unit, unit.first_die);
    Die die;
    std::vector<Owner> owners;
    while (reader.next(die)) {
        if (die.tag != dwarf::tag_subprogram && die.tag != dwarf::tag_inlined_subroutine)
            continue;
        const int depth = reader.depth();
        while (!owners.empty() && owners.back().depth >= depth)
            owners.pop_back();
        take_function(unit, die, owners, depth);
    }
}

void Inlining::take_function(const Unit& unit, const Die& die, std::vector<Owner>& owners,
                             int depth) {
    const bool is_outermost = die.tag == dwarf::tag_subprogram;
    const auto ranges = ranges_of(unit, die);
    if (!ranges.empty() && is_outermost && is_code(ranges.front().low)) {
        owners.push_back({depth, ++owner_count_});
        entries_.emplace(origin_of(unit, die), ranges.front().low);
    }
    constexpr std::uint32_t not_numbered = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t function = not_numbered;
    for (const Range& range : ranges) {
        if (!is_code(range.low) || owners.empty())
            continue;
        const auto first = std::ranges::lower_bound(addresses_, range.low);
        for (auto at = static_cast<std::size_t>(first - addresses_.begin());
             at < addresses_.size() && addresses_[at] < range.high; ++at) {
            if (function == not_numbered)
                function = number(origin_of(unit, die), unit);
            // Functions of the same code, which a linker has put together, count as one.
            if (is_outermost && chains_[at].empty())
                owner_of_[at] = owners.back().number;
            else if (is_outermost || owner_of_[at] != owners.back().number ||
                     chains_[at].size() >= longest_chain)
                continue;
            chains_[at].push_back(function);
        }
    }
}

std::uint32_t Inlining::number(const Place& place, const Unit& found_by) {
    const auto [known, is_new] =
        numbers_.emplace(place, static_cast<std::uint32_t>(functions_.size()));
    if (is_new) {
        functions_.push_back(place);
        languages_.push_back(found_by.language);
    }
    return known->second;
}

std::uint64_t Inlining::entry(const Place& function) const {
    const auto found = entries_.find(function);
    return found == entries_.end() ? 0 : found->second;
}

}  // namespace steelyard
