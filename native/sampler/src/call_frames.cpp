#include "call_frames.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "byte_reader.hpp"

namespace steelyard {

namespace {

// Rules that were worked out are kept for so many addresses.
constexpr std::size_t most_known = 1U << 16U;

enum Operation : std::uint8_t {
    advance_short = 0x40,  // the upper two bits; the lower six are the operand
    offset_short = 0x80,
    restore_short = 0xc0,
    short_mask = 0xc0,
    operand_mask = 0x3f,
    no_operation = 0x00,
    set_location = 0x01,
    advance_1 = 0x02,
    advance_2 = 0x03,
    advance_4 = 0x04,
    offset_extended = 0x05,
    restore_extended = 0x06,
    undefined = 0x07,
    same_value = 0x08,
    in_register = 0x09,
    remember_state = 0x0a,
    restore_state = 0x0b,
    frame_is = 0x0c,
    frame_register_is = 0x0d,
    frame_offset_is = 0x0e,
    frame_expression_is = 0x0f,
    at_expression = 0x10,
    offset_extended_signed = 0x11,
    frame_is_signed = 0x12,
    frame_offset_is_signed = 0x13,
    value_offset = 0x14,
    value_offset_signed = 0x15,
    value_expression = 0x16,
    arguments_size = 0x2e,
    negative_offset_extended = 0x2f
};

/// One entry of .eh_frame, without its length.
struct Entry {
    std::span<const std::byte> bytes;
    std::uint64_t address = 0;
};

std::optional<Entry> next_entry(ByteReader& reader) {
    constexpr std::uint32_t long_mark = 0xffffffffU;
    if (reader.at_end())
        return std::nullopt;
    std::uint64_t length = reader.take<std::uint32_t>();
    if (length == long_mark)
        length = reader.take<std::uint64_t>();
    if (length == 0)
        return std::nullopt;
    const std::uint64_t address = reader.address();
    return Entry{reader.take_bytes(length), address};
}

std::string_view take_text(ByteReader& reader) {
    const auto begin = reader.take_bytes(1);
    std::size_t length = 0;
    for (auto last = begin[0]; last != std::byte{0}; ++length)
        last = reader.take_bytes(1)[0];
    return {reinterpret_cast<const char*>(begin.data()), length};
}

/// Carries out the operations up to an address (DWARF 5, section 6.4.2).
class Machine {
  public:
    Machine(std::uint64_t code_factor, std::int64_t data_factor, std::uint8_t pointer_encoding,
            const FrameRules& initial, FrameRules& rules)
        : code_factor_(code_factor),
          data_factor_(data_factor),
          pointer_encoding_(pointer_encoding),
          initial_(initial),
          rules_(rules) {}

    void run(ByteReader reader, std::uint64_t location, std::uint64_t wanted) {
        location_ = location;
        while (!reader.at_end() && location_ <= wanted) {
            const auto operation = reader.take<std::uint8_t>();
            step(operation, reader);
        }
    }

  private:
    void step(std::uint8_t operation, ByteReader& reader) {
        const std::uint8_t operand = operation & operand_mask;
        switch (operation & short_mask) {
            case advance_short:
                location_ += operand * code_factor_;
                return;
            case offset_short:
                set(operand, Rule::Kind::at_offset, factored(reader.take_uleb()));
                return;
            case restore_short:
                restore(operand);
                return;
            default:
                break;
        }
        if (operation <= advance_4)
            move(operation, reader);
        else if (operation >= frame_is && operation <= frame_expression_is)
            set_frame(operation, reader);
        else
            set_register(operation, reader);
    }

    void move(std::uint8_t operation, ByteReader& reader) {
        switch (operation) {
            case set_location:
                location_ = reader.take_pointer(pointer_encoding_);
                return;
            case advance_1:
                location_ += reader.take<std::uint8_t>() * code_factor_;
                return;
            case advance_2:
                location_ += reader.take<std::uint16_t>() * code_factor_;
                return;
            case advance_4:
                location_ += reader.take<std::uint32_t>() * code_factor_;
                return;
            default:
                return;
        }
    }

    void set_frame(std::uint8_t operation, ByteReader& reader) {
        Rule& rule = rules_.frame_address;
        if (operation == frame_expression_is) {
            rule = {Rule::Kind::expression, 0, 0, reader.take_bytes(reader.take_uleb())};
            return;
        }
        rule.kind = Rule::Kind::in_register;
        if (operation != frame_offset_is)
            rule.other_register = numbered(reader.take_uleb());
        if (operation != frame_register_is)
            rule.distance = static_cast<std::int64_t>(reader.take_uleb());
    }

    void set_register(std::uint8_t operation, ByteReader& reader) {
        switch (operation) {
            case remember_state:
                remembered_.push_back(rules_);
                return;
            case restore_state:
                if (remembered_.empty())
                    throw Malformed();
                rules_ = remembered_.back();
                remembered_.pop_back();
                return;
            case frame_is_signed:
                rules_.frame_address = {
                    Rule::Kind::in_register, numbered(reader.take_uleb()), 0, {}};
                rules_.frame_address.distance = reader.take_sleb() * data_factor_;
                return;
            case frame_offset_is_signed:
                rules_.frame_address.distance = reader.take_sleb() * data_factor_;
                return;
            case arguments_size:
                reader.take_uleb();
                return;
            default:
                break;
        }
        const std::uint64_t number = reader.take_uleb();
        switch (operation) {
            case offset_extended:
                return set(number, Rule::Kind::at_offset, factored(reader.take_uleb()));
            case offset_extended_signed:
                return set(number, Rule::Kind::at_offset, reader.take_sleb() * data_factor_);
            case negative_offset_extended:
                return set(number, Rule::Kind::at_offset, -factored(reader.take_uleb()));
            case value_offset:
                return set(number, Rule::Kind::offset, factored(reader.take_uleb()));
            case value_offset_signed:
                return set(number, Rule::Kind::offset, reader.take_sleb() * data_factor_);
            case restore_extended:
                return restore(number);
            case undefined:
                return set(number, Rule::Kind::undefined, 0);
            case same_value:
                return set(number, Rule::Kind::same, 0);
            case in_register:
                return put(number, {Rule::Kind::in_register, numbered(reader.take_uleb()), 0, {}});
            case at_expression:
                return put(number, {Rule::Kind::at_expression, 0, 0,
                                    reader.take_bytes(reader.take_uleb())});
            case value_expression:
                return put(number,
                           {Rule::Kind::expression, 0, 0, reader.take_bytes(reader.take_uleb())});
            default:
                throw Malformed();
        }
    }

    std::int64_t factored(std::uint64_t count) const {
        return static_cast<std::int64_t>(count) * data_factor_;
    }

    static std::uint8_t numbered(std::uint64_t number) {
        if (number >= register_count)
            throw Malformed();
        return static_cast<std::uint8_t>(number);
    }

    void set(std::uint64_t number, Rule::Kind kind, std::int64_t distance) {
        put(number, {kind, 0, distance, {}});
    }

    // Vector registers are of no use to find callers.
    void put(std::uint64_t number, const Rule& rule) {
        if (number < register_count)
            rules_.registers[number] = rule;
    }

    void restore(std::uint64_t number) {
        if (number < register_count)
            rules_.registers[number] = initial_.registers[number];
    }

    std::uint64_t code_factor_;
    std::int64_t data_factor_;
    std::uint8_t pointer_encoding_;
    const FrameRules& initial_;
    FrameRules& rules_;
    std::vector<FrameRules> remembered_;
    std::uint64_t location_ = 0;
};

}  // namespace

CallFrames::CallFrames(std::unique_ptr<ElfFile> elf) : elf_(std::move(elf)) {
    try {
        read_all();
    } catch (const Malformed&) {
        known_.clear();  // What was read before stays.
    }
    std::ranges::sort(functions_, {}, &Function::start);
}

void CallFrames::read_all() {
    const auto header_address = elf_->frame_header();
    if (!header_address)
        return;
    const auto header = elf_->bytes_from(*header_address);
    if (!header)
        return;
    ByteReader head(*header, *header_address);
    head.take<std::uint8_t>();  // version
    const auto encoding = head.take<std::uint8_t>();
    head.take<std::uint16_t>();  // encodings of the table, which is not needed
    const std::uint64_t address = head.take_pointer(encoding);
    const auto bytes = elf_->bytes_from(address);
    if (!bytes)
        return;
    ByteReader reader(*bytes, address);
    std::unordered_map<std::uint64_t, std::size_t> common_at;
    while (const auto entry = next_entry(reader)) {
        ByteReader fields(entry->bytes, entry->address);
        const auto distance = fields.take<std::uint32_t>();
        if (distance == 0) {
            common_at[entry->address] = commons_.size();
            commons_.push_back(read_common(entry->bytes, entry->address));
            continue;
        }
        // The distance goes back to the length field of the common part, four bytes before it.
        const auto found = common_at.find(entry->address - distance + sizeof(std::uint32_t));
        if (found == common_at.end())
            continue;
        const Common& common = commons_[found->second];
        const std::uint64_t start = fields.take_pointer(common.pointer_encoding);
        const std::uint64_t length = fields.take_value(common.pointer_encoding);
        if (common.has_augmentation)
            fields.take_bytes(fields.take_uleb());
        functions_.push_back({start,
                              start + length,
                              found->second,
                              {entry->bytes.subspan(fields.position()), fields.address()}});
    }
}

CallFrames::Common CallFrames::read_common(std::span<const std::byte> entry,
                                           std::uint64_t address) const {
    constexpr std::uint8_t absent = 0xff;
    Common common;
    ByteReader fields(entry, address);
    fields.take<std::uint32_t>();
    const auto version = fields.take<std::uint8_t>();
    const std::string_view augmentation = take_text(fields);
    common.code_factor = fields.take_uleb();
    common.data_factor = fields.take_sleb();
    const std::uint64_t return_register =
        version == 1 ? fields.take<std::uint8_t>() : fields.take_uleb();
    if (return_register >= register_count)
        throw Malformed();
    common.return_register = static_cast<std::uint8_t>(return_register);
    if (!augmentation.empty() && augmentation[0] == 'z') {
        common.has_augmentation = true;
        const std::uint64_t length = fields.take_uleb();
        const std::uint64_t from = fields.address();
        ByteReader data(fields.take_bytes(length), from);
        for (const char letter : augmentation.substr(1)) {
            if (letter == 'R') {
                common.pointer_encoding = data.take<std::uint8_t>();
            } else if (letter == 'P') {
                const auto encoding = data.take<std::uint8_t>();
                if (encoding != absent)
                    data.take_value(encoding);
            } else if (letter == 'L') {
                data.take<std::uint8_t>();
            } else if (letter == 'S') {
                common.of_signal = true;
            }
        }
    }
    common.program = {entry.subspan(fields.position()), fields.address()};
    return common;
}

const FrameRules* CallFrames::at(std::uint64_t address) {
    auto known = known_.find(address);
    if (known == known_.end()) {
        if (known_.size() >= most_known)
            known_.clear();
        std::optional<FrameRules> rules;
        try {
            rules = rules_at(address);
        } catch (const Malformed&) {
            rules.reset();
        }
        known = known_.emplace(address, rules).first;
    }
    return known->second ? &*known->second : nullptr;
}

std::optional<FrameRules> CallFrames::rules_at(std::uint64_t address) const {
    auto after = std::ranges::upper_bound(functions_, address, {}, &Function::start);
    if (after == functions_.begin())
        return std::nullopt;
    const Function& function = *--after;
    if (address >= function.end)
        return std::nullopt;
    const Common& common = commons_[function.common];
    FrameRules initial;
    initial.of_signal = common.of_signal;
    const auto run = [&](const Program& program, FrameRules& rules) {
        Machine machine(common.code_factor, common.data_factor, common.pointer_encoding, initial,
                        rules);
        machine.run(ByteReader(program.bytes, program.address), function.start, address);
    };
    run(common.program, initial);
    FrameRules rules = initial;
    run(function.program, rules);
    if (common.return_register != address_register)
        rules.registers[address_register] = rules.registers[common.return_register];
    return rules;
}

}  // namespace steelyard
