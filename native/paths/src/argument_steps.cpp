#include "argument_steps.hpp"

#include <string_view>

#include "control_flow.hpp"
#include "jump_tables.hpp"
#include "register_effects.hpp"

namespace steelyard {

namespace {

/// What is called at each entry to count it, before arguments are read.
bool keeps_arguments(const Slot& slot) {
    return slot.symbol == "mcount" || slot.symbol == "_mcount" || slot.symbol == "__fentry__" ||
           slot.symbol == "__mcount_internal";
}

/// `lea variable(%rip), %rax; call *(%rax)`: where a variable of the thread lies (-mtls-dialect).
bool asks_for_thread_variable(const Instruction& call, const CodeStep* before) {
    constexpr std::uint8_t through_rax = 0x10;
    return call.modrm == through_rax && before != nullptr &&
           before->instruction.field == Field::address;
}

/// Of `mov` between two registers the one that is read, as a set.
std::uint16_t copied_by(const Instruction& instruction, std::span<const std::uint8_t> code) {
    constexpr std::uint8_t move_to_operand = 0x89, move_to_field = 0x8b;
    const bool is_to_operand = instruction.opcode == move_to_operand;
    if (instruction.map != one_byte || instruction.vector_encoding || instruction.memory_operand ||
        (!is_to_operand && instruction.opcode != move_to_field))
        return 0;
    const RegisterOperands operands = register_operands(instruction, code);
    const unsigned number = is_to_operand ? operands.field : operands.operand.value_or(0);
    return static_cast<std::uint16_t>(1U << number);
}

}  // namespace

std::uint64_t called_function(std::uint64_t target, const WrappedCalls& wrapped) {
    const auto found = wrapped.find(target);
    return found == wrapped.end() ? target : found->second.callee;
}

bool is_of_c_compilers(const ElfTables& tables) {
    for (const auto& [name, header] : tables.sections()) {
        if (name != ".comment" || header.sh_type == SHT_NOBITS)
            continue;
        const Bytes bytes = tables.part(header.sh_offset, header.sh_size);
        for (std::uint64_t at = 0; at < bytes.size();) {
            const std::string_view compiler = text_at(bytes, at);
            at += compiler.size() + 1;
            if (!compiler.empty() && !compiler.starts_with("GCC: ") &&
                !compiler.starts_with("Linker: ") &&
                compiler.find("clang version") == std::string_view::npos)
                return false;
        }
        return true;
    }
    return false;
}

ArgumentStep argument_step(const CodeStep& step, const CodeStep* before, const StackDepths& depths,
                           const ProgramReferences& references, const WrappedCalls& wrapped) {
    using Way = ArgumentStep::Way;
    const Instruction& instruction = step.instruction;
    const auto code = depths.bytes_of(step);
    const std::uint64_t place =
        step.next() + static_cast<std::uint64_t>(field_distance(instruction, code));
    ArgumentStep found{step.address,
                       instruction.length,
                       Way::onward,
                       register_effects(instruction, code),
                       0,
                       copied_by(instruction, code)};
    if (found.copied != 0)
        found.effects.reads = 0;
    if (instruction.field == Field::call) {
        const Slot* const slot = references.through_stub(place);
        found.way = slot != nullptr && keeps_arguments(*slot) ? Way::onward : Way::call;
        found.target = called_function(place, wrapped);
    } else if (instruction.field == Field::jump) {
        found.way = ends_way(instruction) ? Way::jump : Way::branch;
        found.target = called_function(place, wrapped);
    } else if (is_indirect_call(instruction)) {
        const Slot* const slot =
            instruction.field == Field::memory ? references.slot(place) : nullptr;
        const bool is_kept = (slot != nullptr && keeps_arguments(*slot)) ||
                             asks_for_thread_variable(instruction, before);
        found.way = is_kept ? Way::onward : Way::pointer_call;
    } else if (is_indirect_jump(instruction)) {
        found.way = is_table_jump(step, before, depths) ? Way::table : Way::pointer_jump;
    } else if (ends_way(instruction)) {
        found.way = Way::end;
    } else if (is_padding(instruction)) {
        found.way = Way::padding;
    }
    return found;
}

}  // namespace steelyard
