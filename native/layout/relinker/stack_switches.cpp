#include "stack_switches.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "movable_functions.hpp"

namespace steelyard::layout {

namespace {

using Range = std::pair<std::uint64_t, std::uint64_t>;

/// Functions that switch stacks: what they leave lies where no thread's stack is.
constexpr std::array stack_switchers{"makecontext",   "swapcontext",   "setcontext",
                                     "make_fcontext", "jump_fcontext", "ontop_fcontext"};
/// With a stack for signals of its own, a jump out of its handler leaves a coroutine there.
constexpr std::array long_jumps{"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"};

template <typename Names>
bool holds(const Names& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

bool calls_switchers(const ElfImage& image) {
    const auto imports = image.imports();
    const auto is_switcher = [](const std::string& name) { return holds(stack_switchers, name); };
    const auto jumps = [](const std::string& name) { return holds(long_jumps, name); };
    return std::ranges::any_of(imports, is_switcher) ||
           std::ranges::any_of(image.symbols(),
                               [&](const auto& symbol) { return is_switcher(symbol.name); }) ||
           (std::ranges::find(imports, "sigaltstack") != imports.end() &&
            std::ranges::any_of(imports, jumps));
}

bool any_between(const ElfImage& image, std::uint64_t low, std::uint64_t high) {
    const auto bytes = image.at(low);
    const std::uint64_t size = std::min<std::uint64_t>(high - low, bytes.size());
    return may_switch_stacks(bytes.data(), size);
}

}  // namespace

bool may_switch_stacks(const ElfImage& image, const Functions& functions) {
    if (calls_switchers(image))
        return true;
    std::vector<Range> decoded = functions.of_runtime();
    for (const auto& function : functions.all()) {
        if (function.switches_stacks)
            return true;
        if (function.is_decoded)
            decoded.emplace_back(function.start, function.end);
    }
    std::ranges::sort(decoded);
    for (const auto& section : image.sections()) {
        if (!section.is_code() || !section.name.starts_with(".text"))
            continue;
        std::uint64_t at = section.header.sh_addr;
        const std::uint64_t end = at + section.header.sh_size;
        for (const auto& [low, high] : decoded) {
            if (high <= at || low >= end)
                continue;
            if (low > at && any_between(image, at, low))
                return true;
            at = std::max(at, high);
        }
        if (at < end && any_between(image, at, end))
            return true;
    }
    return false;
}

}  // namespace steelyard::layout
