#include "unwinder.hpp"

#include <cstring>

#include "byte_reader.hpp"
#include "caller_registers.hpp"
#include "frame_expression.hpp"

namespace steelyard {

namespace {

constexpr std::size_t most_frames = 1024;
constexpr std::uint64_t word = sizeof(std::uint64_t);

Registers caller_by_frame_pointer(const Registers& registers, const StackMemory& memory) {
    const std::uint64_t frame = registers[frame_register];
    Registers caller = registers;
    caller[frame_register] = memory.word_at(frame);
    caller[address_register] = memory.word_at(frame + word);
    caller[stack_register] = frame + 2 * word;
    return caller;
}

/// The caller of code of which nothing is said: by the frame pointer, where it is one. Where it is
/// none, code that has called nothing may have put nothing on the stack either, such as a system
/// call by hand-written assembler; else no frame pointer is that of the outermost frame (System V
/// ABI for x86-64, 3.4.1).
Registers caller_without_row(const Registers& registers, const StackMemory& memory, bool has_called,
                             const Lookup& lookup) {
    if (registers[frame_register] >= registers[stack_register])
        return caller_by_frame_pointer(registers, memory);
    const std::uint64_t top = has_called ? 0 : memory.word_at(registers[stack_register]);
    const bool is_return_address = top != 0 && lookup(top);
    if (!is_return_address && registers[frame_register] != 0)
        throw Malformed();
    Registers caller = registers;
    caller[address_register] = is_return_address ? top : 0;
    caller[stack_register] += word;
    return caller;
}

}  // namespace

const std::vector<std::uint64_t>& Unwinder::chain(const StackCopy& copy, const Lookup& lookup) {
    chain_.clear();
    reached_start_ = false;
    try {
        walk(copy, lookup);
    } catch (const Malformed&) {
        return chain_;  // The callers that were found stay.
    }
    return chain_;
}

const std::vector<std::uint64_t>& Unwinder::chain_until(
    const std::function<bool(std::uint64_t)>& is_enough, const StackCopy& copy,
    const Lookup& lookup) {
    is_enough_ = &is_enough;
    chain(copy, lookup);
    is_enough_ = nullptr;
    return chain_;
}

std::optional<Registers> Unwinder::registers_in(std::string_view end, const StackCopy& copy,
                                                const Lookup& lookup) {
    end_ = end;
    at_end_.reset();
    chain(copy, lookup);
    end_ = {};
    return at_end_;
}

std::optional<std::uint64_t> Unwinder::frameless_caller(const StackCopy& copy,
                                                        const Lookup& lookup) {
    const auto place = lookup(copy.registers[address_register]);
    const UnwindRow* const row = place ? row_at(*place, 0) : nullptr;
    if (row == nullptr || row->of_signal)
        return std::nullopt;
    const RegisterRule& frame = row->cfa;
    // Of the linker's stubs an expression says where the frame is.
    const bool is_by_stack =
        frame.kind == RegisterRule::Kind::val_expression ||
        (frame.kind == RegisterRule::Kind::in_register && frame.other_register == stack_register);
    const RegisterRule& caller = row->registers[address_register];
    if (!is_by_stack || caller.kind != RegisterRule::Kind::offset)
        return std::nullopt;
    try {
        const StackMemory memory(copy.bytes, copy.registers[stack_register]);
        const std::uint64_t cfa = value_by(frame, stack_register, 0, copy.registers, memory);
        return value_by(caller, address_register, cfa, copy.registers, memory);
    } catch (const Malformed&) {
        return std::nullopt;  // Its stack is larger than the copy.
    }
}

std::optional<std::uint64_t> Unwinder::frame_of_caller(const Registers& registers,
                                                       const Lookup& lookup) {
    return frame_by(StackCopy{registers, {}}, 1, lookup);
}

std::optional<std::uint64_t> Unwinder::function_at(std::uint64_t address, std::uint64_t back,
                                                   const Lookup& lookup) {
    const auto place = lookup(address);
    const CallFrames* const frames = place ? frames_of(*place) : nullptr;
    const auto in_file =
        frames == nullptr || !place ? std::nullopt : frames->elf().address_of(place->offset);
    const auto start = in_file ? frames->start_of(*in_file - back) : std::nullopt;
    return start ? std::optional(address - *in_file + *start) : std::nullopt;
}

std::optional<std::uint64_t> Unwinder::linked_function_at(std::uint64_t address, std::uint64_t back,
                                                          const Lookup& lookup) {
    const auto place = lookup(address);
    const CallFrames* const frames = place ? frames_of(*place) : nullptr;
    const auto in_file =
        frames == nullptr || !place ? std::nullopt : frames->elf().address_of(place->offset);
    return in_file ? frames->start_of(*in_file - back) : std::nullopt;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> Unwinder::functions_in(
    const FilePlace& place) {
    const CallFrames* const frames = frames_of(place);
    const auto address = frames == nullptr ? std::nullopt : frames->elf().address_of(place.offset);
    if (!address)
        return {};
    // Of the segment that the place is in, addresses are as far apart as their offsets.
    auto found = frames->ranges();
    for (auto& [start, end] : found) {
        start = start - *address + place.offset;
        end = end - *address + place.offset;
    }
    return found;
}

std::optional<std::uint64_t> Unwinder::frame_at(const StackCopy& copy, const Lookup& lookup) {
    return frame_by(copy, 0, lookup);
}

std::optional<std::uint64_t> Unwinder::frame_by(const StackCopy& copy, std::uint64_t back,
                                                const Lookup& lookup) {
    const auto place = lookup(copy.registers[address_register]);
    const UnwindRow* const row = place ? row_at(*place, back) : nullptr;
    if (row == nullptr)
        return std::nullopt;
    try {
        return value_by(row->cfa, stack_register, 0, copy.registers,
                        StackMemory(copy.bytes, copy.registers[stack_register]));
    } catch (const Malformed&) {
        return std::nullopt;
    }
}

void Unwinder::walk(const StackCopy& copy, const Lookup& lookup) {
    Registers registers = copy.registers;
    const StackMemory memory(copy.bytes, registers[stack_register]);
    bool was_interrupted = true;
    while (chain_.size() < most_frames && registers[address_register] != 0) {
        const std::uint64_t address = registers[address_register];
        chain_.push_back(address);
        if (is_enough_ != nullptr && (*is_enough_)(address))
            return;
        const auto place = lookup(address);
        if (!place && chain_.size() > 1)
            return;
        if (place && !end_.empty() && *place->path == end_) {
            at_end_ = registers;
            return;
        }
        // A call may be the last instruction of its function: look inside of it.
        const UnwindRow* const row = place ? row_at(*place, was_interrupted ? 0 : 1) : nullptr;
        const std::uint64_t stack_before = registers[stack_register];
        registers = row != nullptr
                        ? caller_by(*row, registers, memory)
                        : caller_without_row(registers, memory, chain_.size() > 1, lookup);
        was_interrupted = row != nullptr && row->of_signal;
        if (registers[stack_register] <= stack_before && !was_interrupted)
            return;
    }
    reached_start_ = registers[address_register] == 0;
}

const UnwindRow* Unwinder::row_at(const FilePlace& place, std::uint64_t back) {
    CallFrames* const frames = frames_of(place);
    if (frames == nullptr)
        return nullptr;
    const auto address = frames->elf().address_of(place.offset);
    return address ? frames->at(*address - back) : nullptr;
}

CallFrames* Unwinder::frames_of(const FilePlace& place) {
    const std::string build_id = place.build_id != nullptr ? *place.build_id : std::string();
    auto known = files_.find(*place.path + '\0' + build_id);
    if (known == files_.end()) {
        auto elf = *place.path == "[vdso]" ? ElfFile::vdso()
                                           : open_mapped(*place.path, place.process, build_id);
        known = files_
                    .emplace(*place.path + '\0' + build_id,
                             elf ? std::make_unique<CallFrames>(std::move(elf)) : nullptr)
                    .first;
    }
    return known->second.get();
}

}  // namespace steelyard
