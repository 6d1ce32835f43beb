#include "basic_blocks.hpp"

#include <optional>
#include <set>

#include "table.hpp"

namespace steelyard::layout {

namespace {

constexpr std::uint8_t condition_mask = 0x0f;

/// How an instruction ends a block.
struct End {
    BlockEnd kind;
    std::uint8_t condition = 0;
    std::uint64_t target = 0;
};

/// One pass over the instructions of a function.
class Cutter {
  public:
    Cutter(const Function& function, std::span<const std::uint8_t> code)
        : function_(function), code_(code) {
        for (const auto& use : function.fields)
            fields_.emplace(use.offset, &use);
    }

    void find_ends() {
        for (std::uint32_t offset = 0; offset < code_.size() && reason.empty();) {
            const auto decoded = decode(code_.subspan(offset));
            if (!decoded) {
                reason = "an instruction that is not known";
                return;
            }
            const std::uint32_t after = offset + decoded->length;
            starts_.insert(offset);
            if (const auto end = end_of(offset, *decoded)) {
                ends_.emplace(offset, *end);
                leaders_.insert(after);
                if (end->kind == BlockEnd::jumps || end->kind == BlockEnd::branches)
                    lead(end->target);
            }
            offset = after;
        }
    }

    void lead(std::uint64_t target) {
        leaders_.insert(static_cast<std::uint32_t>(target - function_.start));
    }

    std::vector<Block> blocks() {
        leaders_.insert(0);
        leaders_.erase(static_cast<std::uint32_t>(code_.size()));
        for (const std::uint32_t leader : leaders_) {
            if (!starts_.contains(leader))
                reason = "a jump leads into an instruction";
        }
        std::vector<Block> found;
        for (auto leader = leaders_.begin(); leader != leaders_.end(); ++leader) {
            const auto next = std::next(leader);
            const auto until =
                next == leaders_.end() ? static_cast<std::uint32_t>(code_.size()) : *next;
            found.push_back(block(*leader, until));
        }
        if (found.back().end == BlockEnd::falls)
            found.back().end = BlockEnd::stops;  // behind a call that does not return
        if (found.back().end == BlockEnd::branches)
            reason = "a branch at its end goes on behind it";
        for (Block& each : found) {
            if (each.end == BlockEnd::jumps || each.end == BlockEnd::branches)
                each.taken = static_cast<std::uint32_t>(
                    std::distance(leaders_.begin(), leaders_.find(each.taken)));
        }
        return found;
    }

    std::string reason;

  private:
    bool is_inside(std::uint64_t target) const {
        return target >= function_.start && target < function_.end;
    }

    std::optional<End> end_of(std::uint32_t offset, const Instruction& instruction) {
        const auto bytes = code_.subspan(offset, instruction.length);
        if (instruction.field == Field::none)
            return stops(bytes) ? std::optional(End{BlockEnd::stops}) : std::nullopt;
        const FieldUse& use = *fields_.at(offset + instruction.field_offset);
        if (use.kind == Field::memory && is_inside(use.target))
            reason = "it reads its own code";
        if (use.kind == Field::call && is_inside(use.target) && use.target != function_.start)
            reason = "it calls a place inside itself";
        if (use.kind != Field::jump)
            return stops(bytes) ? std::optional(End{BlockEnd::stops}) : std::nullopt;
        const bool is_short = instruction.length == 2;
        const bool goes = bytes[0] == 0xeb || bytes[0] == 0xe9;
        const bool branches =
            is_short ? (bytes[0] & 0xf0U) == 0x70 : bytes[0] == 0x0f && (bytes[1] & 0xf0U) == 0x80;
        if (!is_inside(use.target)) {
            if (goes)
                return End{BlockEnd::stops};
            if (!branches)
                reason = "it leaves by a jump of a kind that is not known";
            return std::nullopt;  // a conditional tail call is an instruction as others are
        }
        if (!goes && !branches)
            reason = "it has a jump that cannot be made longer";
        const std::uint8_t condition = (is_short ? bytes[0] : bytes[1]) & condition_mask;
        return End{goes ? BlockEnd::jumps : BlockEnd::branches, condition, use.target};
    }

    /// `ret`, `jmp *`, `ud2` and `int3`. One that is not recognised costs a jump that is never
    /// taken.
    static bool stops(std::span<const std::uint8_t> bytes) {
        while (bytes.size() > 1 && (bytes[0] == 0xf3 || bytes[0] == 0xf2 || bytes[0] == 0x3e ||
                                    (bytes[0] & 0xf0U) == 0x40))
            bytes = bytes.subspan(1);
        constexpr unsigned register_field = 0x38, jump_near = 0x20;
        if (bytes[0] == 0xff && bytes.size() > 1)
            return (bytes[1] & register_field) == jump_near;
        return bytes[0] == 0xc3 || bytes[0] == 0xc2 || bytes[0] == 0xcc ||
               (bytes[0] == 0x0f && bytes.size() > 1 && bytes[1] == 0x0b);
    }

    Block block(std::uint32_t start, std::uint32_t until) const {
        // Its last instruction is the only one that can end it: what is behind an end leads.
        const auto end = ends_.lower_bound(start);
        if (end == ends_.end() || end->first >= until)
            return {start, until - start, 0, BlockEnd::falls, 0};
        const bool is_rewritten =
            end->second.kind == BlockEnd::jumps || end->second.kind == BlockEnd::branches;
        const std::uint32_t body = (is_rewritten ? end->first : until) - start;
        const auto taken = static_cast<std::uint32_t>(end->second.target - function_.start);
        return {start, body, taken, end->second.kind, end->second.condition};
    }

    const Function& function_;
    std::span<const std::uint8_t> code_;
    std::map<std::uint32_t, const FieldUse*> fields_;
    std::set<std::uint32_t> starts_, leaders_;
    std::map<std::uint32_t, End> ends_;
};

}  // namespace

std::vector<Block> basic_blocks(const Function& function, std::span<const std::uint8_t> code,
                                const std::vector<std::uint64_t>& table_targets,
                                std::string& reason) {
    Cutter cutter(function, code);
    cutter.find_ends();
    for (const std::uint64_t target : table_targets) {
        if (target == function.end)
            reason = "a jump table leads to its end";
        else
            cutter.lead(target);
    }
    for (const std::uint64_t label : function.labels)
        cutter.lead(label);
    if (reason.empty())
        reason = cutter.reason;
    if (!reason.empty())
        return {};
    auto blocks = cutter.blocks();
    reason = cutter.reason;
    return reason.empty() ? blocks : std::vector<Block>{};
}

}  // namespace steelyard::layout
