#include "function_names.hpp"

#include <string_view>
#include <utility>

#include "dwarf.hpp"

namespace steelyard {

namespace {

// Of entries that refer to one another, and of types that are made of others.
constexpr int most_steps = 24;

Place target(const Unit& unit, const Die& die, Slot slot) {
    return unit.file->target(unit, die.value(slot));
}

bool is_cplusplus(std::uint64_t language) {
    switch (language) {
        case dwarf::language_cplusplus:
        case dwarf::language_cplusplus_03:
        case dwarf::language_cplusplus_11:
        case dwarf::language_cplusplus_14:
        case dwarf::language_cplusplus_17:
        case dwarf::language_cplusplus_20:
        case dwarf::language_cplusplus_23:
            return true;
        default:
            return false;
    }
}

/// Whether a name stands for itself, without the scopes around it.
bool has_flat_names(std::uint64_t language) {
    switch (language) {
        case dwarf::language_c89:
        case dwarf::language_c:
        case dwarf::language_c99:
        case dwarf::language_c11:
        case dwarf::language_c17:
        case dwarf::language_c23:
        case dwarf::language_go:
        case dwarf::language_ada83:
        case dwarf::language_ada95:
        case dwarf::language_ada2005:
        case dwarf::language_ada2012:
        case dwarf::language_mips_assembler:
            return true;
        default:
            return false;
    }
}

std::string joined(const std::string& scope, const std::string& name) {
    return scope.empty() ? name : scope + "::" + name;
}

}  // namespace

FunctionName FunctionNames::of(const Place& place, std::uint64_t language) {
    language_ = language;
    FunctionName found = name_at(place);
    found.source = source_of(place);
    return found;
}

std::string FunctionNames::source_of(Place place) {
    std::string source;
    for (int step = 0; step < most_steps; ++step) {
        const Die die = die_at(*place.unit, place.offset);
        if (die.has(Slot::external) && die.value(Slot::external).number != 0)
            return {};
        if (die.has(Slot::decl_file) && source.empty())
            source = sources_.of(*place.unit, die.value(Slot::decl_file).number);
        if (die.has(Slot::abstract_origin))
            place = target(*place.unit, die, Slot::abstract_origin);
        else if (die.has(Slot::specification))
            place = target(*place.unit, die, Slot::specification);
        else
            break;
    }
    return source;
}

std::uint64_t FunctionNames::language_of(const Unit& unit) const {
    return unit.language != 0 ? unit.language : language_;
}

/// Whether a unit tells of no parameters (gcc -g1), though it tells where functions are declared.
bool FunctionNames::is_brief(const Unit& unit) {
    const auto [known, is_new] = brief_.emplace(&unit, false);
    if (is_new) {
        const Die root = die_at(unit, unit.first_die);
        known->second =
            root.has(Slot::producer) &&
            (std::string(text_of(unit, root.value(Slot::producer))) + ' ').find(" -g1 ") !=
                std::string::npos;
    }
    return known->second;
}

FunctionName FunctionNames::name_at(Place place) {
    FunctionName found;
    Place named = place;
    for (int step = 0; step < most_steps; ++step) {
        const Die die = die_at(*place.unit, place.offset);
        if (die.has(Slot::linkage_name)) {
            found.is_linkage = true;
            found.text = text_of(*place.unit, die.value(Slot::linkage_name));
        }
        if (die.has(Slot::name) && found.last_part.empty())
            found.last_part = text_of(*place.unit, die.value(Slot::name));
        if (found.is_linkage && !found.last_part.empty())
            return found;
        named = place;
        if (die.has(Slot::abstract_origin))
            place = target(*place.unit, die, Slot::abstract_origin);
        else if (die.has(Slot::specification))
            place = target(*place.unit, die, Slot::specification);
        else
            break;
    }
    if (found.is_linkage || found.last_part.empty())
        return found;
    found.text = has_flat_names(language_of(*named.unit)) ? found.last_part : plain(named, 0);
    return found;
}

const Scopes& FunctionNames::scopes(const Unit& unit) {
    auto& found = scopes_[&unit];
    if (!found)
        found = std::make_unique<Scopes>(unit);
    return *found;
}

std::string FunctionNames::plain(const Place& place, int depth) {
    std::string name = scoped(place, depth);
    // Where a compiler describes little (-g1), it leaves parameters out with the declaration.
    const Die die = die_at(*place.unit, place.offset);
    const bool is_declared = die.has(Slot::decl_line) || die.has(Slot::artificial);
    if (!is_cplusplus(language_of(*place.unit)) || name == "main" || !is_declared ||
        is_brief(*place.unit))
        return name;
    return name + parameters(place, depth) + (is_const_method(place) ? " const" : "");
}

std::string FunctionNames::scoped(const Place& place, int depth) {
    if (depth > most_steps)
        throw Malformed();
    const std::uint64_t around = scopes(*place.unit).around(place.offset);
    const std::string scope =
        around == 0 ? std::string() : scope_part({place.unit, around}, depth + 1);
    const Die die = die_at(*place.unit, place.offset);
    if (die.tag == dwarf::tag_namespace && !die.has(Slot::name))
        return joined(scope, "(anonymous namespace)");
    if (!die.has(Slot::name))
        return joined(scope, unnamed_type(place, depth));
    return joined(scope, std::string(text_of(*place.unit, die.value(Slot::name))));
}

std::string FunctionNames::scope_part(const Place& place, int depth) {
    const Die die = die_at(*place.unit, place.offset);
    if (die.tag != dwarf::tag_subprogram)
        return scoped(place, depth);
    const FunctionName function = name_at(place);
    return function.is_linkage ? linkage_begin + function.text + linkage_end : function.text;
}

std::string FunctionNames::parameters(const Place& place, int depth) {
    DieReader reader(*place.unit, place.offset);
    Die die;
    reader.next(die);
    std::string list;
    const bool has_parameters = die.has_children;
    while (has_parameters && reader.next(die) && reader.depth() > 0) {
        if (die.tag == 0 && reader.depth() == 1)
            break;
        const bool is_more = die.tag == dwarf::tag_unspecified_parameters;
        const bool is_own = die.tag == dwarf::tag_formal_parameter && !die.has(Slot::artificial);
        if (reader.depth() == 1 && (is_more || is_own)) {
            const std::string text = is_more ? "..." : type(*place.unit, die, depth + 1);
            list += (list.empty() ? "" : ", ") + text;
        }
    }
    return "(" + list + ")";
}

bool FunctionNames::is_const_method(const Place& place) {
    DieReader reader(*place.unit, place.offset);
    Die die;
    reader.next(die);
    const bool has_parameters = die.has_children;
    // Types that are made for the parameters may stand before them.
    while (has_parameters && reader.next(die) && reader.depth() > 0) {
        if (reader.depth() == 1 && (die.tag == 0 || die.tag == dwarf::tag_formal_parameter))
            break;
    }
    if (die.tag != dwarf::tag_formal_parameter || !die.has(Slot::artificial) ||
        !die.has(Slot::type))
        return false;
    Place type = target(*place.unit, die, Slot::type);
    die = die_at(*type.unit, type.offset);
    if (die.tag == dwarf::tag_const_type && die.has(Slot::type)) {
        type = target(*type.unit, die, Slot::type);
        die = die_at(*type.unit, type.offset);
    }
    if (die.tag != dwarf::tag_pointer_type || !die.has(Slot::type))
        return false;
    type = target(*type.unit, die, Slot::type);
    return die_at(*type.unit, type.offset).tag == dwarf::tag_const_type;
}

}  // namespace steelyard
