/// Code that a runtime of its own finds by where it was linked: the collectors of Go and of OCaml
/// look the return addresses on a stack up in their tables.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "movable_functions.hpp"
#include "relocation_kinds.hpp"

namespace steelyard::layout {

namespace {

/// `call rel32`, or `call` through a register or memory.
bool is_call(const Instruction& instruction) {
    constexpr std::uint8_t group_5 = 0xff, near_call = 2, operation_shift = 3, operation_mask = 7;
    const bool is_indirect = instruction.map == one_byte && instruction.opcode == group_5 &&
                             ((instruction.modrm >> operation_shift) & operation_mask) == near_call;
    return instruction.field == Field::call || is_indirect;
}

/// Where the calls of a function return to, in order.
std::vector<std::uint64_t> return_places(const Function& function,
                                         std::span<const std::uint8_t> code) {
    std::vector<std::uint64_t> found;
    for (std::uint64_t offset = 0; offset < code.size();) {
        const auto decoded = decode(code.subspan(offset));
        if (!decoded)
            break;
        offset += decoded->length;
        if (is_call(*decoded))
            found.push_back(function.start + offset);
    }
    return found;
}

}  // namespace

void Functions::exempt_what_is_known_by_address() {
    exempt_go();
    exempt_by_return_places();
}

/// Go's runtime finds a function, for stacks and for its collector, by where it was linked.
void Functions::exempt_go() {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    bool has_table = false;
    for (const auto& symbol : image_.symbols()) {
        if (symbol.name == "runtime.text")
            low = symbol.address;
        else if (symbol.name == "runtime.etext")
            high = symbol.address;
        has_table = has_table || symbol.name == "runtime.pclntab";
    }
    for (auto& function : all_) {
        if (has_table && function.start >= low && function.start < high)
            function.exempt("Go's runtime knows it by its address");
    }
}

/// Labels for a computed `goto` lie anywhere; where all places of a function that data have the
/// addresses of are such as calls return to, somebody looks return addresses up.
void Functions::exempt_by_return_places() {
    std::map<std::size_t, std::vector<std::uint64_t>> kept_in_data;
    for (const auto& kept : relocations_) {
        const auto& section = image_.sections()[kept.section];
        const bool is_data =
            !section.is_code() && !is_unwind_section(section.name) && section.is_loaded();
        const std::ptrdiff_t found = is_data && kept.type == R_X86_64_64 ? find(kept.value) : -1;
        const auto index = static_cast<std::size_t>(found);
        if (found >= 0 && all_[index].start != kept.value)
            kept_in_data[index].push_back(kept.value);
    }
    for (const auto& [index, places] : kept_in_data) {
        Function& function = all_[index];
        const auto code = image_.at(function.start);
        const std::uint64_t size = function.end - function.start;
        if (code.size() < size)
            continue;
        const auto returns = return_places(function, code.first(size));
        if (std::ranges::all_of(places, [&](std::uint64_t place) {
                return std::ranges::binary_search(returns, place);
            }))
            function.exempt("a table has where its calls return to, for who walks the stack");
    }
}

}  // namespace steelyard::layout
