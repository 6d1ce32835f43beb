/// Where it is to be seen how deep the stack is: at as few entries of functions as bound what
/// frames without a look add to it.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "movable_functions.hpp"
#include "relocation_kinds.hpp"

namespace steelyard::layout {

namespace {

// The most padded frames between two looks: 64 of 4 KiB are a quarter of a mebibyte.
constexpr std::uint32_t longest_chain = 64;

bool branches(const FieldUse& use) {
    return use.kind == Field::call || use.kind == Field::jump;
}

/// Goes through the calls, each function after those that it calls.
class Chains {
  public:
    explicit Chains(std::vector<Function>& functions, std::vector<std::vector<std::size_t>> callees)
        : functions_(functions),
          callees_(std::move(callees)),
          states_(functions.size()),
          lengths_(functions.size()) {}

    void walk_all() {
        for (std::size_t index = 0; index < functions_.size(); ++index) {
            if (states_[index] == State::unseen)
                walk(index);
        }
    }

  private:
    enum class State : std::uint8_t { unseen, open, done };
    struct Visit {
        std::size_t function, next;
    };

    void walk(std::size_t first) {
        std::vector<Visit> path{{first, 0}};
        states_[first] = State::open;
        while (!path.empty()) {
            Visit& visit = path.back();
            if (visit.next == callees_[visit.function].size()) {
                finish(visit.function);
                path.pop_back();
                continue;
            }
            const std::size_t callee = callees_[visit.function][visit.next++];
            if (states_[callee] == State::open) {
                functions_[callee].checks_depth = true;  // it closes a cycle
            } else if (states_[callee] == State::unseen) {
                states_[callee] = State::open;
                path.push_back({callee, 0});
            }
        }
    }

    void finish(std::size_t index) {
        states_[index] = State::done;
        std::uint32_t longest = 0;
        for (const std::size_t callee : callees_[index]) {
            if (!functions_[callee].checks_depth)
                longest = std::max(longest, lengths_[callee]);
        }
        lengths_[index] = longest + (functions_[index].pads.empty() ? 0 : 1);
        if (lengths_[index] > longest_chain)
            functions_[index].checks_depth = true;
    }

    std::vector<Function>& functions_;
    std::vector<std::vector<std::size_t>> callees_;
    std::vector<State> states_;
    std::vector<std::uint32_t> lengths_;  ///< padded frames from here on without a look
};

}  // namespace

bool Functions::is_field(std::uint64_t address) const {
    const std::ptrdiff_t found = find(address);
    if (found < 0)
        return false;
    const Function& function = all_[static_cast<std::size_t>(found)];
    const auto offset = static_cast<std::uint32_t>(address - function.start);
    return std::ranges::binary_search(function.fields, offset, {}, &FieldUse::offset);
}

void Functions::check_depth_at(std::uint64_t address) {
    if (is_entry(address))
        all_[static_cast<std::size_t>(find(address))].checks_depth = true;
}

/// Whom each function calls among copies. Others that it refers to may be called from anywhere.
std::vector<std::vector<std::size_t>> Functions::find_callees() {
    std::vector<std::vector<std::size_t>> callees(all_.size());
    for (std::size_t index = 0; index < all_.size(); ++index) {
        const Function& function = all_[index];
        // What stays where it is, or is entered by addresses of labels, calls padded copies.
        const bool keeps_apart = function.moves() && function.labels.empty();
        for (const auto& use : function.fields) {
            const std::ptrdiff_t found = find(use.target);
            if (!branches(use) || !keeps_apart) {
                check_depth_at(use.target);
                continue;
            }
            const bool recurs = use.kind == Field::call && is_entry(use.target);
            const bool is_other = found != static_cast<std::ptrdiff_t>(index);
            if (found >= 0 && (is_other || recurs))
                callees[index].push_back(static_cast<std::size_t>(found));
        }
    }
    return callees;
}

void Functions::choose_depth_checks() {
    for (const auto& kept : relocations_) {
        const auto& section = image_.sections()[kept.section];
        if (is_unwind_section(section.name))
            continue;
        check_depth_at(kept.value);
        const bool is_unknown = section.is_code() && !is_field(kept.address);
        if (is_unknown)
            check_depth_at(kept.value + sizeof(std::int32_t));
        if (is_unknown || may_be_relaxed(kept.type))
            check_depth_at(kept.symbol);
    }
    for (const std::uint64_t address : image_.exports())
        check_depth_at(address);
    Chains(all_, find_callees()).walk_all();
}

}  // namespace steelyard::layout
