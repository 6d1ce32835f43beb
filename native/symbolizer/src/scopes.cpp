#include "scopes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "dwarf.hpp"

namespace steelyard {

namespace {

bool is_scope(std::uint16_t tag) {
    switch (tag) {
        case dwarf::tag_namespace:
        case dwarf::tag_class_type:
        case dwarf::tag_structure_type:
        case dwarf::tag_union_type:
        case dwarf::tag_interface_type:
        case dwarf::tag_enumeration_type:
        case dwarf::tag_module:
        case dwarf::tag_subprogram:
            return true;
        default:
            return false;
    }
}

bool is_class(std::uint16_t tag) {
    return tag == dwarf::tag_structure_type || tag == dwarf::tag_class_type ||
           tag == dwarf::tag_union_type;
}

}  // namespace

Scopes::Scopes(const Unit& unit) {
    DieReader reader(unit, unit.first_die);
    Die die;
    // The scopes around the next entry, each with its depth.
    std::vector<std::pair<int, std::uint64_t>> open;
    while (reader.next(die)) {
        // Blocks in a function are no scopes, but what stands in them is in no type before them.
        while (!open.empty() && open.back().first >= reader.depth())
            open.pop_back();
        if (!is_scope(die.tag))
            continue;
        const std::uint64_t parent = open.empty() ? 0 : open.back().second;
        scopes_.push_back({die.offset, parent});
        if (is_class(die.tag) && !die.has(Slot::name))
            unnamed_types_.emplace(parent, die.offset);
        if (die.has_children)
            open.emplace_back(reader.depth(), die.offset);
    }
}

std::uint64_t Scopes::around(std::uint64_t offset) const {
    const auto found = std::ranges::lower_bound(scopes_, offset, {}, &Scope::offset);
    return found != scopes_.end() && found->offset == offset ? found->parent : 0;
}

std::vector<std::uint64_t> Scopes::unnamed_types(std::uint64_t scope) const {
    const auto [begin, end] = unnamed_types_.equal_range(scope);
    std::vector<std::uint64_t> found;
    std::transform(begin, end, std::back_inserter(found),
                   [](const auto& item) { return item.second; });
    return found;
}

}  // namespace steelyard
