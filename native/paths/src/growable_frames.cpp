#include "growable_frames.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <stdexcept>

#include "byte_reader.hpp"
#include "stack_use.hpp"

namespace steelyard {

namespace {

constexpr std::int64_t word = sizeof(std::uint64_t);
constexpr std::uint8_t return_near = 0xc3, return_popping = 0xc2, jump_near = 0xe9,
                       jump_short = 0xeb;

/// Says why a frame cannot grow.
struct Rigid : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Step {
    std::uint64_t address;
    Instruction instruction;
    StackUse use;
    std::uint64_t target;   ///< of a jump; 0 otherwise
    std::int64_t distance;  ///< from the stack pointer to the CFA before it
    bool by_stack_pointer;  ///< whether the table says so

    std::uint64_t next() const { return address + instruction.length; }
    bool returns() const {
        return instruction.map == one_byte &&
               (instruction.opcode == return_near || instruction.opcode == return_popping);
    }
    bool falls_through() const {
        const bool jumps = instruction.map == one_byte &&
                           (instruction.opcode == jump_near || instruction.opcode == jump_short);
        return !returns() && !jumps;
    }
};

using Part = std::pair<std::uint64_t, std::uint64_t>;

/// A function with its parts that lie elsewhere.
class Frame {
  public:
    Frame(std::vector<Part> parts, CodeBytes code, CallFrames& frames)
        : parts_(std::move(parts)), code_(code), frames_(frames) {
        for (const Part& part : parts_)
            read(part);
    }

    /// Throws Rigid.
    std::vector<FrameField> fields() {
        find_allocation();
        const bool by_stack = std::ranges::all_of(steps_, &Step::by_stack_pointer);
        if (by_stack)
            follow_stack_pointer();
        else
            follow_frame_pointer();
        return std::move(fields_);
    }

  private:
    void read(const Part& part) {
        for (std::uint64_t at = part.first; at < part.second;) {
            const auto rest = code_.bytes.subspan(static_cast<std::size_t>(at - code_.address));
            const auto instruction = decode(rest);
            const UnwindRow* const row = frames_.at(at);
            if (!instruction || row == nullptr)
                throw Rigid("its code or its frame table cannot be read");
            if (row->cfa.kind != RegisterRule::Kind::in_register)
                throw Rigid("its frame is described by an expression");
            Step step{at, *instruction,      stack_use(*instruction, rest),
                      0,  row->cfa.distance, row->cfa.other_register == stack_register};
            if (instruction->field == Field::jump)
                step.target =
                    step.next() + static_cast<std::uint64_t>(field_distance(*instruction, rest));
            steps_.push_back(step);
            at += instruction->length;
        }
    }

    const Step& following(const Step& step) const {
        const Step* const other = &step + 1;
        if (other == steps_.data() + steps_.size() || other->address != step.next())
            throw Rigid("its code ends where its frame changes");
        return *other;
    }

    /// The one instruction that makes room for locals: the one at which least is on the stack.
    void find_allocation() {
        for (const Step& step : steps_) {
            if (step.use.kind != StackUse::Kind::allocate)
                continue;
            if (allocation_ == nullptr || step.distance < allocation_->distance)
                allocation_ = &step;
        }
        if (allocation_ == nullptr)
            throw Rigid("it makes no room for locals");
        amount_ = allocation_->use.amount;
        if (amount_ <= 0)
            throw Rigid("the size of its frame is written as a negative number");
        saved_bytes_ = allocation_->distance;
        add(*allocation_, allocation_->use.amount_offset, allocation_->use.amount_bytes);
    }

    void add(const Step& step, std::uint8_t offset, std::uint8_t bytes) {
        fields_.push_back({step.address + offset, bytes, FrameField::Form::two_complement});
    }

    bool is_inside(const Step& step) const { return step.distance >= saved_bytes_ + amount_; }

    void follow_stack_pointer() {
        for (const Step& step : steps_) {
            check_saved(step);
            check_operand(step);
            switch (step.use.kind) {
                case StackUse::Kind::allocate:
                case StackUse::Kind::release:
                    check_change(step);
                    break;
                case StackUse::Kind::push:
                case StackUse::Kind::pop:
                    if (step.falls_through() && is_inside(step) != is_inside(following(step)))
                        throw Rigid("a push or a pop makes or releases its frame");
                    break;
                case StackUse::Kind::read:
                case StackUse::Kind::to_frame_pointer:
                    if (!is_inside(step))
                        throw Rigid("it copies the stack pointer before its frame is made");
                    break;
                case StackUse::Kind::none:
                    break;
                default:
                    throw Rigid("it changes the stack pointer in another way");
            }
            check_end(step);
        }
        follow_tables();
    }

    /// Registers lie above the room, where the distance from the CFA stays.
    void check_saved(const Step& step) const {
        const UnwindRow* const row = frames_.at(step.address);
        for (const RegisterRule& rule : row->registers) {
            const bool is_fixed = rule.kind == RegisterRule::Kind::same_value ||
                                  rule.kind == RegisterRule::Kind::undefined;
            if (!is_fixed &&
                (rule.kind != RegisterRule::Kind::offset || rule.distance < -saved_bytes_))
                throw Rigid("it saves registers among its locals");
        }
    }

    void check_operand(const Step& step) {
        const StackUse& use = step.use;
        if (!use.has_operand || !is_inside(step))
            return;
        if (use.is_scaled)
            throw Rigid("an operand of it is scaled");
        const std::int64_t above = step.distance - saved_bytes_;
        if (use.displacement < above)
            return;
        const bool names_end = use.is_address && use.displacement < step.distance;
        if (use.is_indexed || names_end || use.displacement_bytes == 0)
            throw Rigid("it takes an address at the end of its locals");
        add(step, use.displacement_offset, use.displacement_bytes);
    }

    void check_change(const Step& step) {
        const bool allocates = step.use.kind == StackUse::Kind::allocate;
        const std::int64_t change = allocates ? step.use.amount : -step.use.amount;
        const Step& next = following(step);
        if (next.distance != step.distance + change)
            throw Rigid("its frame table does not follow the stack pointer");
        if (&step == allocation_)
            return;
        if (is_inside(step) && is_inside(next))
            return;
        if (allocates || !is_inside(step) || next.distance != saved_bytes_ || step.use.amount < 0)
            throw Rigid("it makes or releases its frame in steps");
        add(step, step.use.amount_offset, step.use.amount_bytes);
    }

    void check_end(const Step& step) const {
        if (step.returns() && step.distance != word)
            throw Rigid("its frame table does not follow the stack pointer");
        if (step.target == 0 || std::ranges::any_of(parts_, [&](const Part& part) {
                return step.target >= part.first && step.target < part.second;
            }))
            return;
        if (is_inside(step))
            throw Rigid("it jumps elsewhere with its frame in place");
    }

    void follow_tables() {
        for (const Part& part : parts_) {
            for (const FrameOffset& offset : frames_.offsets_at(part.first)) {
                if (offset.other_register != stack_register ||
                    offset.distance < saved_bytes_ + amount_)
                    continue;
                if (!offset.is_unsigned || offset.bytes > 4)
                    throw Rigid("its frame table is written in another way");
                fields_.push_back({offset.address, static_cast<std::uint8_t>(offset.bytes),
                                   FrameField::Form::uleb});
            }
        }
    }

    /// Locals are found by the frame pointer, so the room is below them.
    void follow_frame_pointer() {
        if (allocation_->by_stack_pointer)
            throw Rigid("it makes its frame where there is no frame pointer yet");
        const std::int64_t saved = lowest_saved(*allocation_);
        for (const Step& step : steps_) {
            if (lowest_saved(step) < saved)
                throw Rigid("it saves registers among its locals");
            if (step.use.has_operand)
                throw Rigid("it uses the stack pointer beside a frame pointer");
            switch (step.use.kind) {
                case StackUse::Kind::allocate:
                    if (&step != allocation_)
                        throw Rigid("it makes or releases its frame in steps");
                    break;
                case StackUse::Kind::release:
                    check_release(step);
                    break;
                case StackUse::Kind::read:
                case StackUse::Kind::other:
                    throw Rigid("it changes the stack pointer in another way");
                default:
                    break;
            }
        }
    }

    /// Where the register is that lies farthest below the CFA.
    std::int64_t lowest_saved(const Step& step) const {
        std::int64_t lowest = 0;
        for (const RegisterRule& rule : frames_.at(step.address)->registers) {
            if (rule.kind == RegisterRule::Kind::offset)
                lowest = std::min(lowest, rule.distance);
        }
        return lowest;
    }

    /// Before pops, a frame is released; elsewhere arguments of a call.
    void check_release(const Step& step) {
        const Step& next = following(step);
        const bool ends = next.use.kind == StackUse::Kind::pop || next.returns();
        if (ends != (step.use.amount == amount_))
            throw Rigid("it makes or releases its frame in steps");
        if (ends)
            add(step, step.use.amount_offset, step.use.amount_bytes);
    }

    std::vector<Part> parts_;
    CodeBytes code_;
    CallFrames& frames_;
    std::vector<Step> steps_;
    const Step* allocation_ = nullptr;
    std::int64_t amount_ = 0, saved_bytes_ = 0;
    std::vector<FrameField> fields_;
};

std::vector<FrameField> padded(const std::vector<Part>& parts,
                               std::span<const std::uint64_t> pads) {
    constexpr std::uint8_t immediate_bytes = 4;
    std::vector<FrameField> fields;
    for (const auto& [start, end] : parts) {
        for (auto pad = std::ranges::lower_bound(pads, start); pad != pads.end() && *pad < end;
             ++pad)
            fields.push_back({*pad, immediate_bytes, FrameField::Form::two_complement});
    }
    return fields;
}

GrowableFrame frame_of(std::uint64_t start, const std::vector<Part>& parts, CodeBytes code,
                       CallFrames& frames, std::span<const std::uint64_t> pads) {
    GrowableFrame found{start, padded(parts, pads), {}};
    if (!found.fields.empty())
        return found;
    try {
        found.fields = Frame(parts, code, frames).fields();
    } catch (const Rigid& rigid) {
        found.fields.clear();
        found.reason = rigid.what();
    } catch (const Malformed&) {
        found.reason = "its frame table cannot be read";
    }
    return found;
}

}  // namespace

std::vector<GrowableFrame> growable_frames(std::span<const PlannedFunction> functions,
                                           CodeBytes code, CallFrames& frames,
                                           std::span<const std::uint64_t> pads) {
    std::map<std::uint32_t, std::vector<Part>> parts;
    for (const PlannedFunction& function : functions)
        parts[function.owner].emplace_back(function.start, function.end);
    std::vector<GrowableFrame> found;
    for (const auto& [owner, ranges] : parts) {
        const PlannedFunction& function = functions[owner];
        if (function.unwatched == Unwatched::start || function.unwatched == Unwatched::part)
            found.push_back({function.start, {}, "it is entered in another way than by a call"});
        else
            found.push_back(frame_of(function.start, ranges, code, frames, pads));
    }
    return found;
}

}  // namespace steelyard
