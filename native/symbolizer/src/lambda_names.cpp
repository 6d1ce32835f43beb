// Lambdas and other types without a name, as names for linkers have them: by numbers in their
// scope.

#include <algorithm>
#include <charconv>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "dwarf.hpp"
#include "function_names.hpp"

namespace steelyard {

namespace {

/// The entries right below another one.
template <typename Take>
void each_child(const Place& place, Take take) {
    DieReader reader(*place.unit, place.offset);
    Die die;
    reader.next(die);
    const bool has_children = die.has_children;
    while (has_children && reader.next(die) && reader.depth() > 0) {
        if (die.tag == 0 && reader.depth() == 1)
            return;
        if (reader.depth() == 1 && die.tag != 0 && !take(die))
            return;
    }
}

std::string_view name_of(const Unit& unit, const Die& die) {
    return die.has(Slot::name) ? text_of(unit, die.value(Slot::name)) : std::string_view();
}

/// By the place in the source: compilers describe first what they meet first.
std::vector<std::uint64_t> in_order(const Unit& unit, const std::vector<std::uint64_t>& types) {
    using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
    std::vector<Key> keys;
    keys.reserve(types.size());
    for (const std::uint64_t offset : types) {
        const Die die = die_at(unit, offset);
        const auto number = [&die](Slot slot) {
            return die.has(slot) ? die.value(slot).number : std::uint64_t{0};
        };
        keys.emplace_back(number(Slot::decl_line), number(Slot::decl_column), offset);
    }
    std::ranges::sort(keys);
    std::vector<std::uint64_t> ordered;
    ordered.reserve(keys.size());
    for (const Key& key : keys)
        ordered.push_back(std::get<2>(key));
    return ordered;
}

bool begins_with_type(std::string_view text, std::string_view type) {
    constexpr std::string_view behind = "*& ";
    return text.starts_with(type) &&
           (text.size() == type.size() || behind.find(text[type.size()]) != std::string_view::npos);
}

}  // namespace

/// gcc up to 12 numbers all lambdas of a scope one after the other, others those with like
/// parameters (Itanium C++ ABI, 5.1.8).
bool FunctionNames::numbers_by_scope(const Unit& unit) const {
    constexpr std::string_view gnu = "GNU C++";
    constexpr int first_with_signatures = 13;
    const Die root = die_at(unit, unit.first_die);
    if (!root.has(Slot::producer))
        return false;
    std::string_view producer = text_of(unit, root.value(Slot::producer));
    if (!producer.starts_with(gnu))
        return false;
    const auto space = producer.find(' ', gnu.size());
    int version = 0;
    if (space != std::string_view::npos)
        std::from_chars(producer.data() + space + 1, producer.data() + producer.size(), version);
    return version > 0 && version < first_with_signatures;
}

std::string FunctionNames::unnamed_type(const Place& place, int depth) {
    const auto parameters = lambda_parameters(place, depth + 1);
    const bool by_scope = numbers_by_scope(*place.unit);
    const Scopes& around = scopes(*place.unit);
    const auto types = around.unnamed_types(around.around(place.offset));
    unsigned number = 0;
    for (const std::uint64_t offset : in_order(*place.unit, types)) {
        const auto other = lambda_parameters({place.unit, offset}, depth + 1);
        const bool is_like =
            by_scope ? other.has_value() == parameters.has_value() : other == parameters;
        number += is_like ? 1 : 0;
        if (offset == place.offset)
            break;
    }
    const std::string kind = parameters ? "lambda" + *parameters : "unnamed type";
    return "{" + kind + "#" + std::to_string(number) + "}";
}

/// The parameters of a lambda's `operator()`; nothing of a type that is no lambda.
std::optional<std::string> FunctionNames::lambda_parameters(const Place& type, int depth) {
    constexpr std::string_view call = "operator()", generic_call = "operator()<";
    std::optional<std::string> found;
    each_child(type, [&](const Die& die) {
        const std::string_view name = name_of(*type.unit, die);
        if (die.tag != dwarf::tag_subprogram)
            return true;
        const Place function{type.unit, die.offset};
        if (name == call)
            found = parameters(function, depth + 1);
        else if (name.starts_with(generic_call))
            found = generic_parameters(function, depth + 1);
        else if (name.ends_with("<lambda>") && !found)
            found.emplace();  // one that nobody calls
        return name != call && !name.starts_with(generic_call);
    });
    return found;
}

/// Those of `auto` as `auto:1`. Which parameter was one is told by its type alone: the first that
/// has the type that stands for it.
std::string FunctionNames::generic_parameters(const Place& function, int depth) {
    const Unit& unit = *function.unit;
    // The types that stand for `auto`, by gcc's names: it tells of each several times.
    std::vector<std::pair<std::string_view, std::string>> meant;
    std::size_t used = 0;
    std::string list;
    each_child(function, [&](const Die& die) {
        if (die.tag == dwarf::tag_template_type_parameter) {
            const std::string_view name = name_of(unit, die);
            const auto is_it = [name](const auto& item) { return item.first == name; };
            if (name.starts_with("auto:") && std::ranges::none_of(meant, is_it))
                meant.emplace_back(name, type(unit, die, depth + 1));
        } else if (die.tag == dwarf::tag_formal_parameter && !die.has(Slot::artificial)) {
            std::string text = type(unit, die, depth + 1);
            if (used < meant.size() && begins_with_type(text, meant[used].second)) {
                const std::size_t length = meant[used].second.size();
                text = "auto:" + std::to_string(++used) + text.substr(length);
            }
            list += (list.empty() ? "" : ", ") + text;
        }
        return true;
    });
    return "(" + list + ")";
}

}  // namespace steelyard
