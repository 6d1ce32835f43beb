#include "generation.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "blocks.hpp"
#include "code_file.hpp"
#include "pages.hpp"
#include "raw.hpp"
#include "settings.hpp"

namespace steelyard::layout {

namespace {

template <typename T>
T* array(std::uint8_t*& place, std::uint64_t count) {
    T* found = reinterpret_cast<T*>(place);
    place += (count * sizeof(T) + 15) / 16 * 16;
    return found;
}

}  // namespace

Generation* new_generation(const Program& program) {
    const std::uint64_t functions = program.function_count();
    const std::uint64_t blocks = settings().has(part_blocks) ? program.header().block_count : 0;
    const std::uint64_t bytes =
        sizeof(Generation) + functions * 15 + blocks * sizeof(std::uint32_t) + 7 * 16;
    auto* place = static_cast<std::uint8_t*>(map_pages(nullptr, bytes, PROT_READ | PROT_WRITE));
    if (place == nullptr)
        return nullptr;
    auto* generation = array<Generation>(place, 1);
    generation->program = &program;
    generation->bookkeeping_bytes = bytes;
    generation->copies = array<std::uint64_t>(place, functions);
    generation->order = array<std::uint32_t>(place, functions);
    generation->live = array<std::uint8_t>(place, functions);
    generation->is_current = array<std::uint8_t>(place, functions);
    generation->was_found = array<std::uint8_t>(place, functions);
    __builtin_memset(generation->was_found, 1, functions);
    if (blocks != 0)
        generation->block_places = array<std::uint32_t>(place, blocks);
    return generation;
}

void drop_generation(Generation& generation) {
    raw(SYS_munmap, word(&generation), static_cast<long>(generation.bookkeeping_bytes));
}

std::uint64_t draw_places(Generation& generation, Random& random) {
    const Program& program = *generation.program;
    const std::uint32_t count = program.function_count();
    // Without it the copies are those of other pads, in the linker's order and close together.
    const bool is_random = settings().has(part_code);
    for (std::uint32_t index = 0; index < count; ++index) {
        const std::uint32_t other = is_random ? random.below(index + 1) : index;
        generation.order[index] = generation.order[other];
        generation.order[other] = index;
    }
    std::uint64_t place = 0;
    if (is_random)
        place = random.below(page_bytes / copy_alignment_bytes) * copy_alignment_bytes;
    for (std::uint32_t at = 0; at < count; ++at) {
        const std::uint32_t index = generation.order[at];
        const auto& function = program.function(index);
        place = (place + copy_alignment_bytes - 1) / copy_alignment_bytes * copy_alignment_bytes;
        if (is_random)
            place += random.below(gap_steps) * copy_alignment_bytes;
        place += generation.entry_bytes;
        // Where a function does not start on the boundary, its loops are aligned relative to it.
        generation.copies[index] = place + function.start % copy_alignment_bytes;
        // One byte more: where a call does not return, its return address is the end of the copy.
        place += function.start % copy_alignment_bytes + copy_bytes(generation, index) + 1;
    }
    return place;
}

void forget_branches(Generation& generation) {
    for (std::uint32_t index = 0; index < generation.program->function_count(); ++index) {
        if (generation.is_current[index] != freed_mark)
            generation.is_current[index] = 0;
    }
}

void forget_findings(Generation& generation, bool waits) {
    for (std::uint32_t index = 0; index < generation.program->function_count(); ++index)
        generation.live[index] = waits && generation.was_found[index] != 0 ? spared_mark : 0;
}

void keep_findings(Generation& generation) {
    for (std::uint32_t index = 0; index < generation.program->function_count(); ++index)
        generation.was_found[index] = generation.live[index] == found_mark ? 1 : 0;
}

std::uint64_t entry(const Generation& generation, std::uint32_t index) {
    const bool checks =
        generation.entry_bytes != 0 && generation.program->function(index).checks_depth != 0;
    return generation.copies[index] - (checks ? depth_check_bytes : 0);
}

std::uint64_t copy_bytes(const Generation& generation, std::uint32_t index) {
    const auto& function = generation.program->function(index);
    return (is_cut(generation, index) ? function.cut_bytes : function.code_bytes) +
           function.table_bytes;
}

std::int64_t find_copy(const Generation& generation, std::uint64_t address) {
    const Program& program = *generation.program;
    std::uint32_t low = 0;
    std::uint32_t high = program.function_count();
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (generation.copies[generation.order[middle]] - generation.entry_bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return -1;
    const std::uint32_t index = generation.order[low - 1];
    // A call that does not return may be the last instruction: its return address is the end.
    const std::uint64_t end = generation.copies[index] + copy_bytes(generation, index);
    return address <= end ? static_cast<std::int64_t>(index) : -1;
}

}  // namespace steelyard::layout
