#include "code_calls.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "address_numbers.hpp"
#include "argument_steps.hpp"
#include "byte_reader.hpp"
#include "control_flow.hpp"
#include "fatal.hpp"
#include "held_pointers.hpp"
#include "jump_tables.hpp"
#include "planner.hpp"
#include "program_code.hpp"
#include "program_references.hpp"
#include "stack_depths.hpp"
#include "variable_arguments.hpp"
#include "virtual_tables.hpp"

namespace steelyard {

namespace {

constexpr std::int64_t word = sizeof(std::uint64_t);

std::uint8_t mode(const Instruction& instruction) {
    return instruction.modrm >> 6U;
}
std::uint8_t rm(const Instruction& instruction) {
    return instruction.modrm & 7U;
}

/// How far behind the address in a register the word lies that is called; nothing where it is
/// called otherwise.
std::optional<std::uint64_t> place_behind_register(const Instruction& instruction,
                                                   std::span<const std::uint8_t> code) {
    // What lies behind the frame pointer was put there by the function, from wherever it was.
    constexpr std::uint8_t has_index = 4, no_base_or_frame_pointer = 5, rex_b = 0x41,
                           rex_b_mask = 0xf1;
    const bool is_extended = (code[0] & rex_b_mask) == rex_b;
    if (!instruction.memory_operand || mode(instruction) == 3 || rm(instruction) == has_index ||
        (rm(instruction) == no_base_or_frame_pointer && (mode(instruction) == 0 || !is_extended)))
        return std::nullopt;
    const std::int64_t value = displacement_of(instruction, code);
    if (value < 0)
        return std::nullopt;
    return static_cast<std::uint64_t>(value);
}

/// What is read beside the plan.
struct Sources {
    CodeBytes code;
    CallFrames& frames;
    const ProgramReferences& references;
    const VirtualTables& virtual_tables;
    const JumpTables& jump_tables;
    HeldPointers& held_pointers;
    const AddressNumbers& numbers;
    bool tells_arguments;
};

class GraphReader {
  public:
    GraphReader(const Plan& plan, const Sources& sources)
        : functions_(plan.functions), wrapped_calls_(plan.wrapped_calls), sources_(sources) {
        for (const PlannedFunction& function : functions_)
            starts_.emplace(function.start, functions_[function.owner].start);
    }

    CallGraph graph() {
        std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> parts;
        for (std::uint32_t index = 0; index < functions_.size(); ++index) {
            const PlannedFunction& function = functions_[index];
            parts[function.owner].emplace_back(function.start, function.end);
            if (function.owner == index)
                found_.functions.push_back(function.start);
            else
                found_.parts.emplace(function.start, functions_[function.owner].start);
        }
        for (const auto& [owner, ranges] : parts) {
            const StackDepths depths(functions_[owner].start, ranges, sources_.code,
                                     sources_.frames);
            sources_.held_pointers.learn_returned(depths,
                                                  sources_.jump_tables.targets(depths, ranges));
        }
        for (const auto& [owner, ranges] : parts)
            read(functions_[owner].start, ranges);
        note_references();
        note_arguments();
        return std::move(found_);
    }

  private:
    void read(std::uint64_t from,
              const std::vector<std::pair<std::uint64_t, std::uint64_t>>& parts) {
        const StackDepths depths(from, parts, sources_.code, sources_.frames);
        const CodeStep* before = nullptr;
        std::vector<ArgumentStep> arguments;
        const auto jump_targets = sources_.jump_tables.targets(depths, parts);
        held_ = sources_.held_pointers.in(depths, jump_targets);
        for (const CodeStep& step : depths.steps()) {
            const std::size_t count = found_.transfers.size() + by_pointer_.size();
            note(from, step, before, depths);
            const bool is_more = found_.transfers.size() + by_pointer_.size() != count;
            if (is_more && !step.depth && !depths.reason().empty())
                found_.varying.emplace(from, depths.reason());
            if (sources_.tells_arguments)
                arguments.push_back(
                    argument_step(step, before, depths, sources_.references, wrapped_calls_));
            before = &step;
        }
        if (depths.steps().empty())
            found_.varying.emplace(from, depths.reason());
        if (sources_.tells_arguments)
            arguments_.add(from, arguments, jump_targets,
                           named_arguments(depths, PassedArguments::most));
    }

    void note_arguments() {
        arguments_.find();
        for (auto& [address, transfer] : by_pointer_) {
            transfer.arguments = arguments_.passed_at(address);
            found_.transfers.insert(std::move(transfer));
        }
        for (const std::uint64_t function : found_.taken) {
            if (const unsigned count = arguments_.read_by(function); count > 0)
                found_.read.emplace(function, count);
        }
    }

    void note(std::uint64_t from, const CodeStep& step, const CodeStep* before,
              const StackDepths& depths) {
        const Instruction& instruction = step.instruction;
        const auto code = depths.bytes_of(step);
        const std::uint64_t target =
            step.next() + static_cast<std::uint64_t>(field_distance(instruction, code));
        if (instruction.field == Field::call)
            go({from, Transfer::To::function, false, step.depth, target, {}});
        else if (is_indirect_call(instruction))
            go_by_pointer({from,
                           Transfer::To::pointer,
                           false,
                           step.depth,
                           place_behind_register(instruction, code),
                           {}},
                          instruction, target, step.address);
        else if (instruction.field == Field::jump)
            jump(from, step, target);
        else if (is_indirect_jump(instruction) && step.depth == word &&
                 (!is_table_jump(step, before, depths) || is_jump_by_any_table(step, depths) ||
                  held_.contains(step.address)))
            go_by_pointer({from,
                           Transfer::To::pointer,
                           true,
                           0,
                           place_behind_register(instruction, code),
                           {}},
                          instruction, target, step.address);
        // The C library is given `main` at the entry, and calls it once.
        if (sources_.references.entry() == from)
            return;
        if (instruction.field == Field::address)
            take(target);
        for (const std::uint64_t address : sources_.numbers.in(instruction, code))
            take(address);
    }

    void jump(std::uint64_t from, const CodeStep& step, std::uint64_t target) {
        const PlannedFunction* const other = containing(target);
        if (other != nullptr && functions_[other->owner].start == from)
            return;
        std::optional<std::int64_t> bytes;
        const UnwindRow* const row = sources_.frames.at(target);
        const bool known = row == nullptr || (row->cfa.kind == RegisterRule::Kind::in_register &&
                                              row->cfa.other_register == stack_register);
        if (step.depth && known)
            bytes = *step.depth - (row == nullptr ? word : row->cfa.distance);
        go({from, Transfer::To::function, true, bytes, target, {}});
    }

    /// A function of the program, maybe through a wrapper; or one of a library, by a stub.
    void go(Transfer transfer) {
        std::uint64_t target = transfer.place.value_or(0);
        if (const auto wrapped = wrapped_calls_.find(target); wrapped != wrapped_calls_.end()) {
            target = wrapped->second.callee;
            if (transfer.bytes)
                *transfer.bytes += wrapped->second.bytes;
        }
        const PlannedFunction* const other = containing(target);
        if (other != nullptr) {
            transfer.place = functions_[other->owner].start;
            found_.transfers.insert(std::move(transfer));
        } else if (const Slot* const slot = sources_.references.through_stub(target)) {
            go_to(std::move(transfer), *slot);
        }
    }

    void go_by_pointer(Transfer transfer, const Instruction& instruction, std::uint64_t target,
                       std::uint64_t address) {
        const Slot* const slot =
            instruction.field == Field::memory ? sources_.references.slot(target) : nullptr;
        if (slot != nullptr && slot->stays &&
            (!slot->symbol.empty() || containing(slot->address) != nullptr))
            go_to(std::move(transfer), *slot);
        else if (const auto held = held_.find(address); held != held_.end())
            go_to_each(transfer, held->second);
        else
            by_pointer_.emplace_back(address, std::move(transfer));
    }

    void go_to_each(Transfer transfer, const std::set<std::uint64_t>& starts) {
        transfer.to = Transfer::To::held;
        for (const std::uint64_t start : starts) {
            transfer.place = starts_.at(start);
            found_.transfers.insert(transfer);
        }
    }

    void go_to(Transfer transfer, const Slot& slot) {
        transfer.place.reset();
        transfer.to = Transfer::To::library;
        transfer.symbol = slot.symbol;
        const PlannedFunction* const own = slot.symbol.empty() ? containing(slot.address) : nullptr;
        if (own != nullptr) {
            transfer.to = Transfer::To::function;
            transfer.place = functions_[own->owner].start;
        }
        found_.transfers.insert(std::move(transfer));
    }

    /// An address in code, or at a place in data.
    void take(std::uint64_t address, std::optional<std::uint64_t> place = std::nullopt) {
        const auto function = starts_.find(address);
        if (function == starts_.end())
            return;
        found_.taken.insert(function->second);
        const auto offset = place ? sources_.virtual_tables.offset_of(*place) : std::nullopt;
        if (offset)
            found_.in_tables[function->second].insert(*offset);
        else
            elsewhere_.insert(function->second);
    }

    void note_references() {
        for (const auto& [place, address] : sources_.references.words())
            take(address, place);
        for (const std::uint64_t function : elsewhere_)
            found_.in_tables.erase(function);
        for (const std::uint64_t address : sources_.references.exported()) {
            if (const auto one = starts_.find(address); one != starts_.end())
                found_.exported.insert(one->second);
        }
        const auto first = sources_.references.main_function();
        if (first && starts_.contains(*first))
            found_.first = starts_.at(*first);
        const auto known = [this](const std::vector<std::uint64_t>& addresses) {
            std::vector<std::uint64_t> found;
            for (const std::uint64_t address : addresses) {
                if (const auto one = starts_.find(address); one != starts_.end())
                    found.push_back(one->second);
            }
            return found;
        };
        found_.initial = known(sources_.references.initial());
        found_.final = known(sources_.references.final());
    }

    const PlannedFunction* containing(std::uint64_t address) const {
        const auto after =
            std::ranges::upper_bound(functions_, address, {}, &PlannedFunction::start);
        if (after == functions_.begin() || address >= std::prev(after)->end)
            return nullptr;
        return &*std::prev(after);
    }

    const std::vector<PlannedFunction>& functions_;
    const std::unordered_map<std::uint64_t, WrappedCall>& wrapped_calls_;
    Sources sources_;
    std::map<std::uint64_t, std::set<std::uint64_t>> held_;  ///< of the function that is read
    PassedArguments arguments_;
    std::vector<std::pair<std::uint64_t, Transfer>> by_pointer_;  ///< with their addresses
    std::set<std::uint64_t> elsewhere_;  ///< functions whose address is not in tables alone
    std::unordered_map<std::uint64_t, std::uint64_t> starts_;
    CallGraph found_;
};

}  // namespace

CallGraph call_graph_of(const std::string& path) try {
    const Plan plan = plan_of(path);
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> data{std::istreambuf_iterator<char>(in), {}};
    const ElfTables tables(std::as_bytes(std::span(data)));
    const ProgramReferences references(tables);
    auto elf = ElfFile::open(path);
    if (!elf)
        throw Malformed();
    CallFrames frames(std::move(elf));
    const VirtualTables virtual_tables(tables, references);
    const ProgramCode code(tables);
    const JumpTables jump_tables(tables);
    HeldPointers held_pointers(tables, references, plan);
    const AddressNumbers numbers(tables);
    const Sources sources{code.bytes(), frames,        references, virtual_tables,
                          jump_tables,  held_pointers, numbers,    is_of_c_compilers(tables)};
    return GraphReader(plan, sources).graph();
} catch (const Malformed&) {
    throw Fatal("It is no ELF program that can be read.");
}

}  // namespace steelyard
