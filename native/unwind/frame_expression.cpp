#include "frame_expression.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "byte_reader.hpp"

namespace steelyard {

namespace {

enum Operation : std::uint8_t {
    dereference = 0x06,
    constant_1u = 0x08,
    constant_1s = 0x09,
    constant_2u = 0x0a,
    constant_2s = 0x0b,
    constant_4u = 0x0c,
    constant_4s = 0x0d,
    constant_8u = 0x0e,
    constant_8s = 0x0f,
    constant_u = 0x10,
    constant_s = 0x11,
    duplicate = 0x12,
    drop = 0x13,
    swap_top = 0x16,
    bit_and = 0x1a,
    minus = 0x1c,
    multiply = 0x1e,
    negate = 0x1f,
    bit_or = 0x21,
    plus = 0x22,
    plus_constant = 0x23,
    shift_left = 0x24,
    shift_right = 0x25,
    equal = 0x29,
    greater_or_equal = 0x2a,
    greater = 0x2b,
    less_or_equal = 0x2c,
    less = 0x2d,
    not_equal = 0x2e,
    literal_0 = 0x30,
    literal_31 = 0x4f,
    register_0_plus = 0x70,
    register_31_plus = 0x8f
};

class Stack {
  public:
    void push(std::uint64_t value) { values_.push_back(value); }
    std::uint64_t pop() {
        if (values_.empty())
            throw Malformed();
        const std::uint64_t value = values_.back();
        values_.pop_back();
        return value;
    }
    std::uint64_t top() {
        push(pop());
        return values_.back();
    }

  private:
    std::vector<std::uint64_t> values_;
};

std::uint64_t constant(std::uint8_t operation, ByteReader& reader) {
    switch (operation) {
        case constant_1u:
            return reader.take<std::uint8_t>();
        case constant_1s:
            return static_cast<std::uint64_t>(std::int64_t{reader.take<std::int8_t>()});
        case constant_2u:
            return reader.take<std::uint16_t>();
        case constant_2s:
            return static_cast<std::uint64_t>(std::int64_t{reader.take<std::int16_t>()});
        case constant_4u:
            return reader.take<std::uint32_t>();
        case constant_4s:
            return static_cast<std::uint64_t>(std::int64_t{reader.take<std::int32_t>()});
        case constant_u:
            return reader.take_uleb();
        case constant_s:
            return static_cast<std::uint64_t>(reader.take_sleb());
        default:
            return reader.take<std::uint64_t>();
    }
}

/// `left` and `right` in the order in which they were put on the stack.
std::uint64_t combined(std::uint8_t operation, std::uint64_t left, std::uint64_t right) {
    const auto signed_left = static_cast<std::int64_t>(left);
    const auto signed_right = static_cast<std::int64_t>(right);
    constexpr std::uint64_t bits = 64;
    switch (operation) {
        case bit_and:
            return left & right;
        case bit_or:
            return left | right;
        case minus:
            return left - right;
        case multiply:
            return left * right;
        case plus:
            return left + right;
        case shift_left:
            return right < bits ? left << right : 0;
        case shift_right:
            return right < bits ? left >> right : 0;
        case equal:
            return left == right ? 1 : 0;
        case greater_or_equal:
            return signed_left >= signed_right ? 1 : 0;
        case greater:
            return signed_left > signed_right ? 1 : 0;
        case less_or_equal:
            return signed_left <= signed_right ? 1 : 0;
        case less:
            return signed_left < signed_right ? 1 : 0;
        case not_equal:
            return left != right ? 1 : 0;
        default:
            throw Malformed();
    }
}

void step(std::uint8_t operation, ByteReader& reader, const Registers& registers,
          const StackMemory& memory, Stack& stack) {
    if (operation >= literal_0 && operation <= literal_31)
        return stack.push(operation - literal_0);
    if (operation >= register_0_plus && operation <= register_31_plus) {
        const std::size_t number = operation - register_0_plus;
        if (number >= register_count)
            throw Malformed();
        return stack.push(registers[number] + static_cast<std::uint64_t>(reader.take_sleb()));
    }
    if (operation >= constant_1u && operation <= constant_s)
        return stack.push(constant(operation, reader));
    switch (operation) {
        case dereference:
            return stack.push(memory.word_at(stack.pop()));
        case duplicate:
            return stack.push(stack.top());
        case drop:
            stack.pop();
            return;
        case negate:
            return stack.push(-stack.pop());
        case plus_constant:
            return stack.push(stack.pop() + reader.take_uleb());
        case swap_top: {
            const std::uint64_t one = stack.pop();
            const std::uint64_t other = stack.pop();
            stack.push(one);
            return stack.push(other);
        }
        default: {
            const std::uint64_t right = stack.pop();
            const std::uint64_t left = stack.pop();
            return stack.push(combined(operation, left, right));
        }
    }
}

}  // namespace

std::uint64_t StackMemory::word_at(std::uint64_t address) const {
    std::uint64_t value = 0;
    const std::uint64_t offset = address - address_;
    if (address < address_ || bytes_.size() < sizeof value || offset > bytes_.size() - sizeof value)
        throw Malformed();
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
}

std::uint64_t expression_value(std::span<const std::byte> program, const Registers& registers,
                               const StackMemory& memory, std::uint64_t first) {
    Stack stack;
    stack.push(first);
    ByteReader reader(program, 0);
    while (!reader.at_end())
        step(reader.take<std::uint8_t>(), reader, registers, memory, stack);
    return stack.pop();
}

}  // namespace steelyard
