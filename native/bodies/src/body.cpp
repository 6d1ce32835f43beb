#include "body.hpp"

#include <algorithm>

#include "mixing.hpp"
#include "value_at.hpp"

namespace steelyard {

namespace {

constexpr std::size_t run_length = 4;

/// For each step its number among those that do something.
std::vector<std::uint32_t> ordinals_of(const std::vector<Step>& steps) {
    std::vector<std::uint32_t> found;
    found.reserve(steps.size());
    std::uint32_t next = 0;
    for (const Step& step : steps) {
        found.push_back(next);
        next += step.is_nothing ? 0 : 1;
    }
    return found;
}

/// The number of the step at an address, or before it.
std::uint32_t ordinal_at(const std::vector<Step>& steps, const std::vector<std::uint32_t>& ordinals,
                         std::uint64_t address) {
    const auto after = std::ranges::upper_bound(steps, address, {}, &Step::address);
    if (after == steps.begin())
        return 0;
    return ordinals[static_cast<std::size_t>(std::distance(steps.begin(), std::prev(after)))];
}

void sketch(const std::vector<std::uint64_t>& operations, Body& body) {
    body.sketch.fill(~std::uint32_t{0});
    for (std::size_t at = 0; at < operations.size(); ++at) {
        std::uint64_t run = 0;
        for (std::size_t more = 0; more < std::min(run_length, operations.size() - at); ++more)
            run = run * 0xd1342543de82ef95U + operations[at + more];
        run = mixed(run);
        for (std::size_t hash = 0; hash < sketch_values; ++hash) {
            const std::uint64_t value = run * (2 * hash + 0x9e3779b97f4a7c15U);
            body.sketch[hash] =
                std::min(body.sketch[hash], static_cast<std::uint32_t>(value >> 32U));
        }
    }
}

}  // namespace

Body BodyReader::read(const Function& function) {
    Body body;
    steps_.clear();
    tables_.clear();
    table_targets_.clear();
    exits_.clear();
    if (file_.machine() == Machine::x86_64)
        read_x86_64(function, body);
    else
        read_aarch64(function, body);
    end_tables(function);
    finish(function, body);
    return body;
}

void BodyReader::add_jump_table(const Function& function, std::uint64_t table,
                                std::size_t entry_bytes) {
    const Bytes bytes = file_.bytes_at(table);
    references_.add_border(table);
    std::vector<std::uint64_t>& targets = tables_.emplace_back();
    for (std::uint64_t at = 0; at + entry_bytes <= bytes.size(); at += entry_bytes) {
        const std::uint64_t target =
            entry_bytes == sizeof(std::uint64_t)
                ? value_at<std::uint64_t>(bytes, at)
                : table +
                      static_cast<std::uint64_t>(std::int64_t{value_at<std::int32_t>(bytes, at)});
        if (!function.holds(target) && function_at(functions_, target) < 0)
            return;
        targets.push_back(target);
    }
}

bool BodyReader::is_jump_table(const Function& function, std::uint64_t table) const {
    constexpr std::size_t looked_at = 4;
    const Bytes bytes = file_.bytes_at(table);
    bool leads_inside = false;
    std::size_t entry = 0;
    for (; entry < looked_at && 4 * (entry + 1) <= bytes.size(); ++entry) {
        const std::uint64_t target =
            table +
            static_cast<std::uint64_t>(std::int64_t{value_at<std::int32_t>(bytes, 4 * entry)});
        if (!function.holds(target) && function_at(functions_, target) < 0)
            break;
        leads_inside = leads_inside || function.holds(target);
    }
    return entry > 1 && leads_inside;
}

void BodyReader::end_tables(const Function& function) {
    for (const std::vector<std::uint64_t>& targets : tables_) {
        const auto end = std::ranges::find_if_not(
            targets, [&](std::uint64_t target) { return may_lead_to(function, target); });
        table_targets_.insert(table_targets_.end(), targets.begin(), end);
    }
}

void BodyReader::note_exit(const Reference& reference) {
    if (reference.kind == ReferenceKind::function)
        exits_.push_back(reference.place);
}

bool BodyReader::may_lead_to(const Function& function, std::uint64_t target) const {
    if (function.holds(target))
        return true;
    const std::int64_t other = exits_.empty() ? -1 : function_at(functions_, target);
    return other >= 0 &&
           std::ranges::find(exits_, static_cast<std::uint32_t>(other)) != exits_.end();
}

void BodyReader::finish(const Function& function, Body& body) {
    const std::vector<std::uint32_t> ordinals = ordinals_of(steps_);
    std::vector<std::uint64_t> tokens;
    std::vector<std::uint64_t> operations;
    tokens.reserve(steps_.size());
    operations.reserve(steps_.size());
    std::vector<std::int32_t> depth(steps_.size() + 1, 0);
    for (std::size_t place = 0; place < steps_.size(); ++place) {
        const Step& step = steps_[place];
        if (step.is_nothing)
            continue;
        std::uint64_t token = step.token;
        if (step.target != 0) {
            const std::uint32_t target = ordinal_at(steps_, ordinals, step.target);
            token = mixed(token, std::uint64_t{target} - ordinals[place]);
            if (target <= ordinals[place]) {
                ++depth[target];
                --depth[ordinals[place] + 1];
            }
        }
        tokens.push_back(token);
        operations.push_back(step.operation);
    }
    std::int32_t inside = 0;
    for (std::size_t place = 0; place < tokens.size(); ++place) {
        inside += depth[place];
        body.digest = mixed(body.digest, tokens[place]);
        if (inside > 0)
            body.loop_digest = mixed(body.loop_digest, tokens[place]);
    }
    constexpr std::uint64_t exit = 0xe417;
    for (const std::uint64_t target : table_targets_)
        body.digest = mixed(body.digest,
                            function.holds(target) ? ordinal_at(steps_, ordinals, target) : exit);
    body.instructions = static_cast<std::uint32_t>(tokens.size());
    sketch(operations, body);
}

}  // namespace steelyard
