#include "copying.hpp"

#include "blocks.hpp"
#include "pages.hpp"
#include "program.hpp"
#include "raw.hpp"
#include "settings.hpp"

namespace steelyard::layout {

namespace {

// Pads up to 4 KiB (Curtsinger and Berger, section 3.4) in steps of the stack's alignment.
constexpr std::uint32_t pad_steps = 256;
constexpr std::uint32_t pad_step_bytes = 16;

std::int32_t read_word(const std::uint8_t* place) {
    std::int32_t value = 0;
    __builtin_memcpy(&value, place, sizeof value);
    return value;
}

void write_word(std::uint8_t* place, std::int64_t value) {
    const auto narrow = static_cast<std::int32_t>(value);
    __builtin_memcpy(place, &narrow, sizeof narrow);
}

/// Whether an address inside the function is kept in data; labels are in the functions' order.
bool has_labels(const Program& program, std::uint32_t index) {
    std::uint32_t low = 0;
    std::uint32_t high = program.header().label_count;
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (program.label(middle).function < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < program.header().label_count && program.label(low).function == index;
}

/// By how much what a field leads to lies elsewhere than in the file.
std::int64_t target_shift(const Generation& generation, std::uint32_t target,
                          const CopyPlaces& places) {
    const Program& program = *generation.program;
    if (target == target_fixed)
        return 0;
    if ((target & target_jump_table) == 0)
        return static_cast<std::int64_t>(generation.copies[target] - program.original(target));
    const auto& table = program.jump_table(target & ~target_jump_table);
    return static_cast<std::int64_t>(places.tables() + table.place - program.address(table.start));
}

void lay_tables(const Generation& generation, std::uint32_t index, CopyPlaces& places) {
    const Program& program = *generation.program;
    const auto& function = program.function(index);
    for (std::uint32_t at = function.first_jump_table;
         at < program.function(index + 1).first_jump_table; ++at) {
        const auto& table = program.jump_table(at);
        const std::uint64_t copy = places.tables() + table.place;
        const std::uint8_t* from = program.pristine(table.start);
        for (std::uint32_t entry = 0; entry < table.size; entry += sizeof(std::int32_t)) {
            const auto target = static_cast<std::uint32_t>(
                static_cast<std::int64_t>(table.start) + read_word(from + entry) - function.start);
            write_word(bytes_at(copy + entry),
                       static_cast<std::int64_t>(places.address(target) - copy));
        }
    }
}

}  // namespace

void lay_copy(const Generation& generation, std::uint32_t index, Random& random) {
    const Program& program = *generation.program;
    const auto& function = program.function(index);
    const std::uint8_t* pristine = program.pristine(function.start);
    if (is_cut(generation, index))
        lay_blocks(generation, index, random);
    else
        __builtin_memcpy(bytes_at(generation.copies[index]), pristine, function.size);
    CopyPlaces places(generation, index);
    for (std::uint32_t at = function.first_fixup; at < program.function(index + 1).first_fixup;
         ++at) {
        const auto& fixup = program.fixup(at);
        if (places.is_rewritten(fixup.offset))
            continue;
        const std::uint64_t place = places.address(fixup.offset);
        const auto distance =
            static_cast<std::int64_t>(place - program.original(index) - fixup.offset);
        write_word(bytes_at(place), read_word(pristine + fixup.offset) - distance +
                                        target_shift(generation, fixup.target, places));
    }
    lay_tables(generation, index, places);
}

void write_pads(const Generation& generation, std::uint32_t index, Random& random) {
    if (!settings().has(part_stack))
        return;
    const Program& program = *generation.program;
    // A frame whose function is entered through labels may be released by another copy than made
    // it.
    Random once(settings().seed ^ index);
    Random& drawn = has_labels(program, index) ? once : random;
    const std::int64_t pad = drawn.below(pad_steps) * pad_step_bytes;
    CopyPlaces places(generation, index);
    for (std::uint32_t at = program.function(index).first_pad;
         at < program.function(index + 1).first_pad; ++at)
        write_word(bytes_at(places.address(program.pad(at))), pad);
}

void patch_copy(const Generation& generation, const Generation& newest, std::uint32_t index,
                std::uint8_t* into) {
    const Program& program = *generation.program;
    const auto& function = program.function(index);
    const std::uint8_t* pristine = program.pristine(function.start);
    CopyPlaces places(generation, index);
    for (std::uint32_t at = function.first_fixup; at < program.function(index + 1).first_fixup;
         ++at) {
        const auto& fixup = program.fixup(at);
        if ((fixup.target & target_jump_table) != 0 || places.is_rewritten(fixup.offset))
            continue;  // or a place that stays
        const std::uint64_t place = places.address(fixup.offset);
        const auto distance =
            static_cast<std::int64_t>(place - program.original(index) - fixup.offset);
        write_word(into + (place - generation.copies[index]),
                   read_word(pristine + fixup.offset) - distance +
                       target_shift(newest, fixup.target, places));
    }
}

void redirect(const Generation& generation, std::uint64_t* slots) {
    const Program& program = *generation.program;
    const auto& header = program.header();
    for (std::uint32_t index = 0; index < header.function_count; ++index)
        __atomic_store_n(&slots[index], generation.copies[index], __ATOMIC_RELEASE);
    for (std::uint32_t at = 0; at < header.label_count; ++at) {
        const auto& label = program.label(at);
        const std::uint32_t inside = label.address - program.function(label.function).start;
        CopyPlaces places(generation, label.function);
        __atomic_store_n(&slots[header.function_count + at], places.address(inside),
                         __ATOMIC_RELEASE);
    }
}

void replace_originals(const Program& program, const std::uint64_t* slots) {
    constexpr int trap = 0xcc;
    const auto& header = program.header();
    if (header.function_count == 0)
        return;
    Replacement text(program.address(header.text_low), program.address(header.text_high));
    const auto write_stub = [&](std::uint64_t address, const std::uint64_t* slot) {
        std::uint8_t* place = text.at(address);
        place[0] = 0xff;  // jmp *slot(%rip)
        place[1] = 0x25;
        write_word(place + 2, word(slot) - static_cast<std::int64_t>(address + stub_bytes));
    };
    for (std::uint32_t index = 0; index < header.function_count; ++index) {
        __builtin_memset(text.at(program.original(index)), trap, program.function(index).size);
        write_stub(program.original(index), &slots[index]);
    }
    for (std::uint32_t at = 0; at < header.label_count; ++at)
        write_stub(program.address(program.label(at).address), &slots[header.function_count + at]);
    text.put_in_place();
}

}  // namespace steelyard::layout
