// The names of types as they stand in the parameters of C++ functions.

#include <map>
#include <string_view>

#include "dwarf.hpp"
#include "function_names.hpp"

namespace steelyard {

namespace {

constexpr int deepest = 24;

/// As the names for linkers are read; compilers write the words in another order.
std::string base_name(std::string_view name) {
    static const std::map<std::string_view, std::string_view> names{
        {"long unsigned int", "unsigned long"},
        {"long int", "long"},
        {"short int", "short"},
        {"short unsigned int", "unsigned short"},
        {"long long int", "long long"},
        {"long long unsigned int", "unsigned long long"},
        {"__int128 unsigned", "unsigned __int128"},
    };
    const auto found = names.find(name);
    return std::string(found == names.end() ? name : found->second);
}

/// What follows the type that another one is made of.
std::string_view suffix(std::uint16_t tag) {
    switch (tag) {
        case dwarf::tag_pointer_type:
            return "*";
        case dwarf::tag_reference_type:
            return "&";
        case dwarf::tag_rvalue_reference_type:
            return "&&";
        case dwarf::tag_const_type:
            return " const";
        case dwarf::tag_volatile_type:
            return " volatile";
        default:
            return "";
    }
}

}  // namespace

/// The type of an entry; `void` where it has none.
std::string FunctionNames::type(const Unit& unit, const Die& die, int depth) {
    if (!die.has(Slot::type))
        return "void";
    Place place = unit.file->target(unit, die.value(Slot::type));
    // What holds for the parameter itself does not tell functions apart.
    for (int step = 0; step < deepest && die.tag == dwarf::tag_formal_parameter; ++step) {
        const Die made = die_at(*place.unit, place.offset);
        if (made.tag != dwarf::tag_const_type || !made.has(Slot::type))
            break;
        place = place.unit->file->target(*place.unit, made.value(Slot::type));
    }
    return type_at(place, depth + 1);
}

std::string FunctionNames::type_at(const Place& place, int depth) {
    if (depth > deepest)
        throw Malformed();
    const Unit& unit = *place.unit;
    const Die die = die_at(unit, place.offset);
    switch (die.tag) {
        case dwarf::tag_base_type:
        case dwarf::tag_unspecified_type:
            return base_name(die.has(Slot::name) ? text_of(unit, die.value(Slot::name)) : "?");
        case dwarf::tag_typedef:
        case dwarf::tag_restrict_type:
            return type(unit, die, depth);
        case dwarf::tag_array_type:
            return type(unit, die, depth) + " []";
        case dwarf::tag_subroutine_type:
            return type(unit, die, depth) + " " + parameters(place, depth);
        case dwarf::tag_pointer_type:
        case dwarf::tag_reference_type:
        case dwarf::tag_rvalue_reference_type: {
            if (!die.has(Slot::type))
                return "void*";
            const Place pointee = unit.file->target(unit, die.value(Slot::type));
            const Die made = die_at(*pointee.unit, pointee.offset);
            if (made.tag == dwarf::tag_subroutine_type)
                return type(*pointee.unit, made, depth) + " (" + std::string(suffix(die.tag)) +
                       ")" + parameters(pointee, depth);
            return type_at(pointee, depth + 1) + std::string(suffix(die.tag));
        }
        case dwarf::tag_const_type:
        case dwarf::tag_volatile_type:
            return type(unit, die, depth) + std::string(suffix(die.tag));
        default:
            return scoped(place, depth + 1);
    }
}

}  // namespace steelyard
