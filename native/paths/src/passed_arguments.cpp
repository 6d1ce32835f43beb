#include "passed_arguments.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace steelyard {

namespace {

using Way = ArgumentStep::Way;

constexpr std::uint8_t all = 0x3f;
// rdi, rsi, rdx, rcx, r8, r9.
constexpr std::array<unsigned, PassedArguments::most> numbers = {7, 6, 2, 1, 8, 9};

// rbx, rsp, rbp, r12 to r15.
constexpr std::uint16_t kept_by_calls = 0xf038;

/// The general registers of arguments.
unsigned registers_of(std::uint8_t arguments) {
    unsigned found = 0;
    for (unsigned at = 0; at < PassedArguments::most; ++at)
        found |= (arguments >> at & 1U) << numbers.at(at);
    return found;
}

bool goes_onward(Way way) {
    return way == Way::onward || way == Way::padding || way == Way::branch || way == Way::call ||
           way == Way::pointer_call;
}

}  // namespace

PassedArguments::Registers PassedArguments::arguments_of(unsigned registers) {
    unsigned found = 0;
    for (unsigned at = 0; at < most; ++at)
        found |= (registers >> numbers.at(at) & 1U) << at;
    return static_cast<Registers>(found);
}

std::size_t PassedArguments::index_of(const std::vector<ArgumentStep>& steps,
                                      std::uint64_t address) {
    const auto found = std::ranges::lower_bound(steps, address, {}, &ArgumentStep::address);
    return found == steps.end() || found->address != address
               ? nowhere
               : static_cast<std::size_t>(found - steps.begin());
}

void PassedArguments::add(std::uint64_t function, const std::vector<ArgumentStep>& steps,
                          const std::vector<std::uint64_t>& tables, unsigned named) {
    by_start_.emplace(function, functions_.size());
    Function& added = functions_.emplace_back();
    added.address = function;
    added.named = static_cast<Registers>((1U << named) - 1U);
    std::vector<std::uint64_t>& targets = targets_.emplace_back();
    for (const ArgumentStep& step : steps) {
        added.steps.push_back({step.address, step.way, step.effects.reads, step.effects.may_write,
                               step.copied, arguments_of(step.effects.may_write),
                               arguments_of(step.effects.writes),
                               index_of(steps, step.address + step.length),
                               step.target == 0 ? nowhere : index_of(steps, step.target), nowhere});
        targets.push_back(step.target);
    }
    for (const std::uint64_t place : tables) {
        if (const std::size_t index = index_of(steps, place); index != nowhere)
            added.tables.push_back(index);
    }
}

void PassedArguments::find() {
    link();
    find_read();
    find_written();
    find_passed();
}

void PassedArguments::link() {
    for (std::size_t at = 0; at < functions_.size(); ++at) {
        std::vector<Step>& steps = functions_[at].steps;
        for (std::size_t index = 0; index < steps.size(); ++index) {
            Step& step = steps[index];
            const bool leaves = step.way == Way::jump || step.way == Way::branch;
            if (step.way == Way::call || (leaves && step.target == nowhere))
                link(at, step, targets_[at][index]);
        }
    }
    targets_.clear();
}

/// A call, or a jump to another function: to its start mostly.
void PassedArguments::link(std::size_t function, Step& step, std::uint64_t target) {
    if (const auto start = by_start_.find(target); start != by_start_.end()) {
        step.callee = start->second;
        functions_[start->second].callers.push_back(function);
        return;
    }
    if (target == 0)
        return;
    for (Function& other : functions_) {
        if (other.steps.empty() || target < other.steps.front().address ||
            target > other.steps.back().address)
            continue;
        const auto found = std::ranges::lower_bound(other.steps, target, {}, &Step::address);
        if (found != other.steps.end() && found->address == target)
            other.others.push_back(static_cast<std::size_t>(found - other.steps.begin()));
    }
}

void PassedArguments::find_read() {
    std::vector<std::size_t> waiting(functions_.size());
    for (std::size_t at = 0; at < waiting.size(); ++at)
        waiting[at] = at;
    while (!waiting.empty()) {
        const std::size_t at = waiting.back();
        waiting.pop_back();
        if (find_read(functions_[at]))
            waiting.insert(waiting.end(), functions_[at].callers.begin(),
                           functions_[at].callers.end());
    }
}

/// Whether it reads more than was known: what is read before it is written on any way from its
/// start. A call is given what its callee reads, and leaves nothing of the arguments. A copy is
/// read where what it was copied into is. Ways by tables do not count, since some of their places
/// may be none.
bool PassedArguments::find_read(Function& function) const {
    const std::vector<Step>& steps = function.steps;
    std::vector<std::uint16_t> live(steps.size(), 0);
    const auto at = [&live](std::size_t index) { return index == nowhere ? 0U : live[index]; };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t back = steps.size(); back > 0; --back) {
            const Step& step = steps[back - 1];
            const bool calls = step.way == Way::call || step.way == Way::pointer_call;
            unsigned after = goes_onward(step.way) ? at(step.next) : 0U;
            if (calls)
                after &= kept_by_calls;
            if (step.way == Way::jump || step.way == Way::branch)
                after |= at(step.target);
            unsigned found = after & ~unsigned{step.rewritten};
            if ((after & step.rewritten) != 0)
                found |= step.copied;
            if (step.callee != nowhere)
                found |= registers_of(functions_[step.callee].read);
            found |= step.reads;
            changed |= live[back - 1] != found;
            live[back - 1] = static_cast<std::uint16_t>(found);
        }
    }
    const auto start = std::ranges::find(steps, function.address, &Step::address);
    const unsigned first =
        start == steps.end() ? 0U : live[static_cast<std::size_t>(start - steps.begin())];
    const auto read = static_cast<Registers>(arguments_of(first) & function.named);
    const bool is_more = read != function.read;
    function.read = read;
    return is_more;
}

/// What a function and those that it calls write: compilers know it (gcc's -fipa-ra), and keep
/// what they pass to the next call in the other registers.
void PassedArguments::find_written() {
    for (bool changed = true; changed;) {
        changed = false;
        for (Function& function : functions_) {
            unsigned written = function.written;
            for (const Step& step : function.steps) {
                written |= step.writes;
                const bool is_strange = step.way == Way::pointer_call ||
                                        step.way == Way::pointer_jump || step.way == Way::call;
                if (step.callee != nowhere)
                    written |= functions_[step.callee].written;
                else if (is_strange)
                    written |= all;
            }
            changed |= written != function.written;
            function.written = static_cast<Registers>(written);
        }
    }
}

PassedArguments::Registers PassedArguments::behind(const Step& step, Registers before) const {
    if (step.way == Way::pointer_call || (step.way == Way::call && step.callee == nowhere))
        return 0;
    const unsigned gone = step.way == Way::call ? functions_[step.callee].written : 0U;
    return static_cast<Registers>((before | step.may_write) & ~gone);
}

void PassedArguments::pass(Function& function, std::size_t at, Registers before) const {
    std::vector<std::pair<std::size_t, Registers>> waiting{{at, before}};
    while (!waiting.empty()) {
        const auto [index, given] = waiting.back();
        waiting.pop_back();
        Step& step = function.steps[index];
        const auto more = static_cast<Registers>(step.before | given);
        if (step.is_reached && more == step.before)
            continue;
        step.is_reached = true;
        step.before = more;
        const Registers after = behind(step, more);
        if (goes_onward(step.way) && step.next != nowhere)
            waiting.emplace_back(step.next, after);
        if (step.target != nowhere && (step.way == Way::jump || step.way == Way::branch))
            waiting.emplace_back(step.target, more);
        if (step.way != Way::table)
            continue;
        for (const std::size_t place : function.tables)
            waiting.emplace_back(place, more);
        for (std::size_t place = 0; function.tables.empty() && place < function.steps.size();
             ++place)
            waiting.emplace_back(place, more);
    }
}

/// What may be passed before each step. What nothing leads to is entered with anything.
void PassedArguments::pass(Function& function) const {
    std::vector<Step>& steps = function.steps;
    for (Step& step : steps) {
        step.before = 0;
        step.is_reached = false;
    }
    const auto start = std::ranges::find(steps, function.address, &Step::address);
    if (start != steps.end())
        pass(function, static_cast<std::size_t>(start - steps.begin()), function.entered);
    for (const std::size_t other : function.others)
        pass(function, other, all);
    for (std::size_t at = 0; at < steps.size(); ++at) {
        if (!steps[at].is_reached && steps[at].way != Way::padding)
            pass(function, at, all);
    }
}

/// What all calls of a function by its address pass; nothing where it has none.
std::vector<std::optional<PassedArguments::Registers>> PassedArguments::entered() const {
    std::vector<std::optional<Registers>> found(functions_.size());
    for (const Function& function : functions_) {
        for (const Step& step : function.steps) {
            if (step.callee == nowhere)
                continue;
            std::optional<Registers>& entered = found[step.callee];
            entered = static_cast<Registers>(entered.value_or(all) & step.before);
        }
    }
    return found;
}

void PassedArguments::find_passed() {
    for (Function& function : functions_)
        pass(function);
    for (bool changed = true; changed;) {
        changed = false;
        const auto found = entered();
        for (std::size_t at = 0; at < functions_.size(); ++at) {
            Function& function = functions_[at];
            const auto less = static_cast<Registers>(function.entered &
                                                     (found[at].value_or(all) | function.read));
            if (less == function.entered)
                continue;
            function.entered = less;
            pass(function);
            changed = true;
        }
    }
    for (const Function& function : functions_) {
        for (const Step& step : function.steps) {
            if (step.way == Way::pointer_call || step.way == Way::pointer_jump)
                passed_.emplace(step.address, step.before);
        }
    }
}

unsigned PassedArguments::read_by(std::uint64_t function) const {
    const auto found = by_start_.find(function);
    return found == by_start_.end()
               ? 0
               : static_cast<unsigned>(std::bit_width(unsigned{functions_[found->second].read}));
}

unsigned PassedArguments::passed_at(std::uint64_t address) const {
    const auto found = passed_.find(address);
    return found == passed_.end() ? most
                                  : static_cast<unsigned>(std::bit_width(unsigned{found->second}));
}

}  // namespace steelyard
