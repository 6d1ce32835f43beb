#include "call_frames.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "byte_reader.hpp"
#include "frame_instructions.hpp"

namespace steelyard {

namespace {

// Rules that were worked out are kept for so many addresses.
constexpr std::size_t most_known = 1U << 16U;

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
        const std::uint64_t start = fields.take_pointer(cie.factors.pointer_encoding);
        const std::uint64_t length = fields.take_value(cie.factors.pointer_encoding);
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
    cie.factors.code = fields.take_uleb();
    cie.factors.data = fields.take_sleb();
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
                cie.factors.pointer_encoding = data.take<std::uint8_t>();
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

std::vector<std::pair<std::uint64_t, std::uint64_t>> CallFrames::ranges() const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    ranges.reserve(fdes_.size());
    for (const Fde& fde : fdes_)
        ranges.emplace_back(fde.start, fde.end);
    return ranges;
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

const CallFrames::Fde* CallFrames::entry_of(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(fdes_, address, {}, &Fde::start);
    if (after == fdes_.begin() || address >= std::prev(after)->end)
        return nullptr;
    return &*std::prev(after);
}

std::optional<std::uint64_t> CallFrames::start_of(std::uint64_t address) const {
    const Fde* const entry = entry_of(address);
    return entry == nullptr ? std::nullopt : std::optional(entry->start);
}

std::vector<FrameOffset> CallFrames::offsets_at(std::uint64_t start) const {
    const Fde* const fde = entry_of(start);
    if (fde == nullptr || fde->start != start)
        throw Malformed();
    const Cie& cie = cies_[fde->cie];
    UnwindRow initial;
    FrameInstructions(cie.factors, initial, initial)
        .run(ByteReader(cie.program.bytes, cie.program.address), start, UINT64_MAX);
    UnwindRow row = initial;
    std::vector<FrameOffset> offsets;
    FrameInstructions machine(cie.factors, initial, row);
    machine.note_offsets(offsets);
    machine.run(ByteReader(fde->program.bytes, fde->program.address), start, UINT64_MAX);
    return offsets;
}

std::optional<UnwindRow> CallFrames::row_at(std::uint64_t address) const {
    const Fde* const entry = entry_of(address);
    if (entry == nullptr)
        return std::nullopt;
    const Fde& fde = *entry;
    const Cie& cie = cies_[fde.cie];
    UnwindRow initial;
    initial.of_signal = cie.of_signal;
    const auto run = [&](const Program& program, UnwindRow& row) {
        FrameInstructions machine(cie.factors, initial, row);
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
