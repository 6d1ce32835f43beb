#include "call_frames.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "byte_reader.hpp"

namespace steelyard {

namespace {

// Rules that were worked out are kept for so many addresses.
constexpr std::size_t most_known = 1U << 16U;

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
            const UnwindRow& initial, UnwindRow& row)
        : code_factor_(code_factor),
          data_factor_(data_factor),
          pointer_encoding_(pointer_encoding),
          initial_(initial),
          row_(row) {}

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
            case DW_CFA_advance_loc:
                location_ += operand * code_factor_;
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

    void move(std::uint8_t operation, ByteReader& reader) {
        switch (operation) {
            case DW_CFA_set_loc:
                location_ = reader.take_pointer(pointer_encoding_);
                return;
            case DW_CFA_advance_loc1:
                location_ += reader.take<std::uint8_t>() * code_factor_;
                return;
            case DW_CFA_advance_loc2:
                location_ += reader.take<std::uint16_t>() * code_factor_;
                return;
            case DW_CFA_advance_loc4:
                location_ += reader.take<std::uint32_t>() * code_factor_;
                return;
            default:
                return;
        }
    }

    void set_frame(std::uint8_t operation, ByteReader& reader) {
        RegisterRule& rule = row_.cfa;
        if (operation == DW_CFA_def_cfa_expression) {
            rule = {RegisterRule::Kind::val_expression, 0, 0,
                    reader.take_bytes(reader.take_uleb())};
            return;
        }
        rule.kind = RegisterRule::Kind::in_register;
        if (operation != DW_CFA_def_cfa_offset)
            rule.other_register = numbered(reader.take_uleb());
        if (operation != DW_CFA_def_cfa_register)
            rule.distance = static_cast<std::int64_t>(reader.take_uleb());
    }

    void set_register(std::uint8_t operation, ByteReader& reader) {
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
                row_.cfa.distance = reader.take_sleb() * data_factor_;
                return;
            case DW_CFA_def_cfa_offset_sf:
                row_.cfa.distance = reader.take_sleb() * data_factor_;
                return;
            case DW_CFA_GNU_args_size:
                reader.take_uleb();
                return;
            default:
                break;
        }
        const std::uint64_t number = reader.take_uleb();
        switch (operation) {
            case DW_CFA_offset_extended:
                return set(number, RegisterRule::Kind::offset, factored(reader.take_uleb()));
            case DW_CFA_offset_extended_sf:
                return set(number, RegisterRule::Kind::offset, reader.take_sleb() * data_factor_);
            case DW_CFA_GNU_negative_offset_extended:
                return set(number, RegisterRule::Kind::offset, -factored(reader.take_uleb()));
            case DW_CFA_val_offset:
                return set(number, RegisterRule::Kind::val_offset, factored(reader.take_uleb()));
            case DW_CFA_val_offset_sf:
                return set(number, RegisterRule::Kind::val_offset,
                           reader.take_sleb() * data_factor_);
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

    std::int64_t factored(std::uint64_t count) const {
        return static_cast<std::int64_t>(count) * data_factor_;
    }

    static std::uint8_t numbered(std::uint64_t number) {
        if (number >= register_count)
            throw Malformed();
        return static_cast<std::uint8_t>(number);
    }

    void set(std::uint64_t number, RegisterRule::Kind kind, std::int64_t distance) {
        put(number, {kind, 0, distance, {}});
    }

    // Vector registers are of no use to find callers.
    void put(std::uint64_t number, const RegisterRule& rule) {
        if (number < register_count)
            row_.registers[number] = rule;
    }

    void restore(std::uint64_t number) {
        if (number < register_count)
            row_.registers[number] = initial_.registers[number];
    }

    std::uint64_t code_factor_;
    std::int64_t data_factor_;
    std::uint8_t pointer_encoding_;
    const UnwindRow& initial_;
    UnwindRow& row_;
    std::vector<UnwindRow> remembered_;
    std::uint64_t location_ = 0;
};

}  // namespace

CallFrames::CallFrames(std::unique_ptr<ElfFile> elf) : elf_(std::move(elf)) {
    try {
        read_all();
    } catch (const Malformed&) {
        known_.clear();  // What was read before stays.
    }
    std::ranges::sort(fdes_, {}, &Fde::start);
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
    std::unordered_map<std::uint64_t, std::size_t> cie_at;
    while (const auto entry = next_entry(reader)) {
        ByteReader fields(entry->bytes, entry->address);
        const auto distance = fields.take<std::uint32_t>();
        if (distance == 0) {
            cie_at[entry->address] = cies_.size();
            cies_.push_back(read_cie(entry->bytes, entry->address));
            continue;
        }
        // The distance goes back to the length field of the CIE, four bytes before it.
        const auto found = cie_at.find(entry->address - distance + sizeof(std::uint32_t));
        if (found == cie_at.end())
            continue;
        const Cie& cie = cies_[found->second];
        const std::uint64_t start = fields.take_pointer(cie.pointer_encoding);
        const std::uint64_t length = fields.take_value(cie.pointer_encoding);
        if (cie.has_augmentation)
            fields.take_bytes(fields.take_uleb());
        fdes_.push_back({start,
                         start + length,
                         found->second,
                         {entry->bytes.subspan(fields.position()), fields.address()}});
    }
}

CallFrames::Cie CallFrames::read_cie(std::span<const std::byte> entry,
                                     std::uint64_t address) const {
    constexpr std::uint8_t absent = 0xff;
    Cie cie;
    ByteReader fields(entry, address);
    fields.take<std::uint32_t>();
    const auto version = fields.take<std::uint8_t>();
    const std::string_view augmentation = take_text(fields);
    cie.code_factor = fields.take_uleb();
    cie.data_factor = fields.take_sleb();
    const std::uint64_t return_register =
        version == 1 ? fields.take<std::uint8_t>() : fields.take_uleb();
    if (return_register >= register_count)
        throw Malformed();
    cie.return_register = static_cast<std::uint8_t>(return_register);
    if (!augmentation.empty() && augmentation[0] == 'z') {
        cie.has_augmentation = true;
        const std::uint64_t length = fields.take_uleb();
        const std::uint64_t from = fields.address();
        ByteReader data(fields.take_bytes(length), from);
        for (const char letter : augmentation.substr(1)) {
            if (letter == 'R') {
                cie.pointer_encoding = data.take<std::uint8_t>();
            } else if (letter == 'P') {
                const auto encoding = data.take<std::uint8_t>();
                if (encoding != absent)
                    data.take_value(encoding);
            } else if (letter == 'L') {
                data.take<std::uint8_t>();
            } else if (letter == 'S') {
                cie.of_signal = true;
            }
        }
    }
    cie.program = {entry.subspan(fields.position()), fields.address()};
    return cie;
}

const UnwindRow* CallFrames::at(std::uint64_t address) {
    auto known = known_.find(address);
    if (known == known_.end()) {
        if (known_.size() >= most_known)
            known_.clear();
        std::optional<UnwindRow> row;
        try {
            row = row_at(address);
        } catch (const Malformed&) {
            row.reset();
        }
        known = known_.emplace(address, row).first;
    }
    return known->second ? &*known->second : nullptr;
}

std::optional<UnwindRow> CallFrames::row_at(std::uint64_t address) const {
    auto after = std::ranges::upper_bound(fdes_, address, {}, &Fde::start);
    if (after == fdes_.begin())
        return std::nullopt;
    const Fde& fde = *--after;
    if (address >= fde.end)
        return std::nullopt;
    const Cie& cie = cies_[fde.cie];
    UnwindRow initial;
    initial.of_signal = cie.of_signal;
    const auto run = [&](const Program& program, UnwindRow& row) {
        Machine machine(cie.code_factor, cie.data_factor, cie.pointer_encoding, initial, row);
        machine.run(ByteReader(program.bytes, program.address), fde.start, address);
    };
    run(cie.program, initial);
    UnwindRow row = initial;
    run(fde.program, row);
    if (cie.return_register != address_register)
        row.registers[address_register] = row.registers[cie.return_register];
    return row;
}

}  // namespace steelyard
