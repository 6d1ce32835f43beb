#include "frame_instructions.hpp"

namespace steelyard {

namespace {

// As the standard writes them.
// NOLINTBEGIN(readability-identifier-naming)
enum Operation : std::uint8_t {
    DW_CFA_advance_loc = 0x40,  // the upper two bits; the lower six are the operand
    DW_CFA_offset = 0x80,
    DW_CFA_restore = 0xc0,
    short_mask = 0xc0,
    operand_mask = 0x3f,
    DW_CFA_nop = 0x00,
    DW_CFA_set_loc = 0x01,
    DW_CFA_advance_loc1 = 0x02,
    DW_CFA_advance_loc2 = 0x03,
    DW_CFA_advance_loc4 = 0x04,
    DW_CFA_offset_extended = 0x05,
    DW_CFA_restore_extended = 0x06,
    DW_CFA_undefined = 0x07,
    DW_CFA_same_value = 0x08,
    DW_CFA_register = 0x09,
    DW_CFA_remember_state = 0x0a,
    DW_CFA_restore_state = 0x0b,
    DW_CFA_def_cfa = 0x0c,
    DW_CFA_def_cfa_register = 0x0d,
    DW_CFA_def_cfa_offset = 0x0e,
    DW_CFA_def_cfa_expression = 0x0f,
    DW_CFA_expression = 0x10,
    DW_CFA_offset_extended_sf = 0x11,
    DW_CFA_def_cfa_sf = 0x12,
    DW_CFA_def_cfa_offset_sf = 0x13,
    DW_CFA_val_offset = 0x14,
    DW_CFA_val_offset_sf = 0x15,
    DW_CFA_val_expression = 0x16,
    DW_CFA_GNU_args_size = 0x2e,
    DW_CFA_GNU_negative_offset_extended = 0x2f
};
// NOLINTEND(readability-identifier-naming)

std::uint8_t numbered(std::uint64_t number) {
    if (number >= register_count)
        throw Malformed();
    return static_cast<std::uint8_t>(number);
}

}  // namespace

void FrameInstructions::run(ByteReader reader, std::uint64_t location, std::uint64_t wanted) {
    location_ = location;
    while (!reader.at_end() && location_ <= wanted) {
        const auto operation = reader.take<std::uint8_t>();
        step(operation, reader);
    }
}

void FrameInstructions::step(std::uint8_t operation, ByteReader& reader) {
    const std::uint8_t operand = operation & operand_mask;
    switch (operation & short_mask) {
        case DW_CFA_advance_loc:
            location_ += operand * factors_.code;
            return;
        case DW_CFA_offset:
            set(operand, RegisterRule::Kind::offset, factored(reader.take_uleb()));
            return;
        case DW_CFA_restore:
            restore(operand);
            return;
        default:
            break;
    }
    if (operation <= DW_CFA_advance_loc4)
        move(operation, reader);
    else if (operation >= DW_CFA_def_cfa && operation <= DW_CFA_def_cfa_expression)
        set_frame(operation, reader);
    else
        set_register(operation, reader);
}

void FrameInstructions::move(std::uint8_t operation, ByteReader& reader) {
    switch (operation) {
        case DW_CFA_set_loc:
            location_ = reader.take_pointer(factors_.pointer_encoding);
            return;
        case DW_CFA_advance_loc1:
            location_ += reader.take<std::uint8_t>() * factors_.code;
            return;
        case DW_CFA_advance_loc2:
            location_ += reader.take<std::uint16_t>() * factors_.code;
            return;
        case DW_CFA_advance_loc4:
            location_ += reader.take<std::uint32_t>() * factors_.code;
            return;
        default:
            return;
    }
}

void FrameInstructions::set_frame(std::uint8_t operation, ByteReader& reader) {
    RegisterRule& rule = row_.cfa;
    if (operation == DW_CFA_def_cfa_expression) {
        rule = {RegisterRule::Kind::val_expression, 0, 0, reader.take_bytes(reader.take_uleb())};
        return;
    }
    rule.kind = RegisterRule::Kind::in_register;
    if (operation != DW_CFA_def_cfa_offset)
        rule.other_register = numbered(reader.take_uleb());
    const std::uint64_t from = reader.address();
    if (operation != DW_CFA_def_cfa_register) {
        rule.distance = static_cast<std::int64_t>(reader.take_uleb());
        note_offset(from, reader, true);
    }
}

void FrameInstructions::note_offset(std::uint64_t from, const ByteReader& reader,
                                    bool is_unsigned) {
    if (offsets_ != nullptr)
        offsets_->push_back({from, reader.address() - from, row_.cfa.distance,
                             row_.cfa.other_register, is_unsigned});
}

void FrameInstructions::set_register(std::uint8_t operation, ByteReader& reader) {
    switch (operation) {
        case DW_CFA_remember_state:
            remembered_.push_back(row_);
            return;
        case DW_CFA_restore_state:
            if (remembered_.empty())
                throw Malformed();
            row_ = remembered_.back();
            remembered_.pop_back();
            return;
        case DW_CFA_def_cfa_sf:
            row_.cfa = {RegisterRule::Kind::in_register, numbered(reader.take_uleb()), 0, {}};
            row_.cfa.distance = reader.take_sleb() * factors_.data;
            note_offset(reader.address(), reader, false);
            return;
        case DW_CFA_def_cfa_offset_sf:
            row_.cfa.distance = reader.take_sleb() * factors_.data;
            note_offset(reader.address(), reader, false);
            return;
        case DW_CFA_GNU_args_size:
            reader.take_uleb();
            return;
        default:
            break;
    }
    set_numbered(operation, reader.take_uleb(), reader);
}

void FrameInstructions::set_numbered(std::uint8_t operation, std::uint64_t number,
                                     ByteReader& reader) {
    switch (operation) {
        case DW_CFA_offset_extended:
            return set(number, RegisterRule::Kind::offset, factored(reader.take_uleb()));
        case DW_CFA_offset_extended_sf:
            return set(number, RegisterRule::Kind::offset, reader.take_sleb() * factors_.data);
        case DW_CFA_GNU_negative_offset_extended:
            return set(number, RegisterRule::Kind::offset, -factored(reader.take_uleb()));
        case DW_CFA_val_offset:
            return set(number, RegisterRule::Kind::val_offset, factored(reader.take_uleb()));
        case DW_CFA_val_offset_sf:
            return set(number, RegisterRule::Kind::val_offset, reader.take_sleb() * factors_.data);
        case DW_CFA_restore_extended:
            return restore(number);
        case DW_CFA_undefined:
            return set(number, RegisterRule::Kind::undefined, 0);
        case DW_CFA_same_value:
            return set(number, RegisterRule::Kind::same_value, 0);
        case DW_CFA_register:
            return put(number,
                       {RegisterRule::Kind::in_register, numbered(reader.take_uleb()), 0, {}});
        case DW_CFA_expression:
            return put(number, {RegisterRule::Kind::expression, 0, 0,
                                reader.take_bytes(reader.take_uleb())});
        case DW_CFA_val_expression:
            return put(number, {RegisterRule::Kind::val_expression, 0, 0,
                                reader.take_bytes(reader.take_uleb())});
        default:
            throw Malformed();
    }
}

std::int64_t FrameInstructions::factored(std::uint64_t count) const {
    return static_cast<std::int64_t>(count) * factors_.data;
}

void FrameInstructions::set(std::uint64_t number, RegisterRule::Kind kind, std::int64_t distance) {
    put(number, {kind, 0, distance, {}});
}

// Vector registers are of no use to find callers.
void FrameInstructions::put(std::uint64_t number, const RegisterRule& rule) {
    if (number < register_count)
        row_.registers[number] = rule;
}

void FrameInstructions::restore(std::uint64_t number) {
    if (number < register_count)
        row_.registers[number] = initial_.registers[number];
}

}  // namespace steelyard
