#include "caller_registers.hpp"

#include "byte_reader.hpp"

namespace steelyard {

std::uint64_t value_by(const RegisterRule& rule, std::size_t number, std::uint64_t cfa,
                       const Registers& registers, const StackMemory& memory) {
    switch (rule.kind) {
        case RegisterRule::Kind::same_value:
            return registers[number];
        case RegisterRule::Kind::undefined:
            return 0;
        case RegisterRule::Kind::offset:
            return memory.word_at(cfa + static_cast<std::uint64_t>(rule.distance));
        case RegisterRule::Kind::val_offset:
            return cfa + static_cast<std::uint64_t>(rule.distance);
        case RegisterRule::Kind::in_register:
            return registers[rule.other_register] + static_cast<std::uint64_t>(rule.distance);
        case RegisterRule::Kind::expression:
            return memory.word_at(expression_value(rule.program, registers, memory, cfa));
        case RegisterRule::Kind::val_expression:
            return expression_value(rule.program, registers, memory, cfa);
    }
    throw Malformed();
}

Registers caller_by(const UnwindRow& row, const Registers& registers, const StackMemory& memory) {
    const std::uint64_t cfa = value_by(row.cfa, stack_register, 0, registers, memory);
    Registers caller = registers;
    for (std::size_t number = 0; number < register_count; ++number) {
        const RegisterRule& rule = row.registers[number];
        if (rule.kind != RegisterRule::Kind::same_value)
            caller[number] = value_by(rule, number, cfa, registers, memory);
    }
    if (row.registers[stack_register].kind == RegisterRule::Kind::same_value)
        caller[stack_register] = cfa;
    if (row.registers[address_register].kind == RegisterRule::Kind::same_value)
        throw Malformed();
    return caller;
}

}  // namespace steelyard
