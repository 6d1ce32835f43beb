#include "copying.hpp"

#include "blocks.hpp"
#include "code_file.hpp"
#include "pages.hpp"
#include "raw.hpp"

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

/// By how much what a field leads to lies elsewhere than in the file; `linked` is where it is
/// there.
std::int64_t target_shift(const Generation& generation, std::uint32_t target, std::uint64_t linked,
                          const CopyPlaces& places) {
    const Program& program = *generation.program;
    if (target == target_fixed)
        return 0;
    if ((target & target_jump_table) == 0) {
        const std::uint64_t original = program.original(target);
        return static_cast<std::int64_t>(
            (linked == original ? entry(generation, target) : generation.copies[target]) -
            original);
    }
    const auto& table = program.jump_table(target & ~target_jump_table);
    return static_cast<std::int64_t>(places.tables() + table.place - program.address(table.start));
}

/// What a field of a function at `original` leads to where it was linked. Branches end with it.
std::uint64_t linked_target(std::uint64_t original, const std::uint8_t* pristine,
                            const Fixup& fixup) {
    return original + fixup.offset + sizeof(std::int32_t) +
           static_cast<std::uint64_t>(
               static_cast<std::int64_t>(read_word(pristine + fixup.offset)));
}

/// Writes what stands before a copy: where the stack is deep, it is left for that without pads.
void write_depth_check(const Generation& generation, std::uint32_t index, const Generation& deep,
                       std::uint8_t* into) {
    constexpr std::uint8_t code[] = {0x64, 0x48, 0x3b, 0x24, 0x25, 0x70, 0, 0, 0, 0x0f, 0x89};
    constexpr std::uint32_t field = sizeof code;
    static_assert(field + sizeof(std::int32_t) == depth_check_bytes);
    __builtin_memcpy(into, code, sizeof code);
    write_word(into + field,
               static_cast<std::int64_t>(deep.copies[index] - generation.copies[index]));
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
        write_word(
            bytes_at(place),
            read_word(pristine + fixup.offset) - distance +
                target_shift(generation, fixup.target,
                             linked_target(program.original(index), pristine, fixup), places));
    }
    lay_tables(generation, index, places);
    if (entry(generation, index) != generation.copies[index])
        write_depth_check(generation, index, *generation.deep, bytes_at(entry(generation, index)));
}

void write_pads(const Generation& generation, std::uint32_t index, Random& random) {
    const Program& program = *generation.program;
    const std::int64_t pad = random.below(pad_steps) * pad_step_bytes;
    const std::uint8_t* pristine = program.pristine(program.function(index).start);
    CopyPlaces places(generation, index);
    for (std::uint32_t at = program.function(index).first_pad;
         at < program.function(index + 1).first_pad; ++at)
        write_word(bytes_at(places.address(program.pad(at))),
                   read_word(pristine + program.pad(at)) + pad);
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
        write_word(
            into + (place - generation.copies[index]),
            read_word(pristine + fixup.offset) - distance +
                target_shift(newest, fixup.target,
                             linked_target(program.original(index), pristine, fixup), places));
    }
    if (entry(generation, index) != generation.copies[index])
        write_depth_check(generation, index, *newest.deep, into - depth_check_bytes);
}

void redirect(const Generation& generation, std::uint64_t* slots) {
    const Program& program = *generation.program;
    const auto& header = program.header();
    for (std::uint32_t index = 0; index < header.function_count; ++index)
        __atomic_store_n(&slots[index], entry(generation, index), __ATOMIC_RELEASE);
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
