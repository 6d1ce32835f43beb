#include "code.hpp"

#include <sys/mman.h>

#include "blocks.hpp"
#include "copying.hpp"
#include "pages.hpp"
#include "raw.hpp"
#include "settings.hpp"
#include "surroundings.hpp"

namespace steelyard::layout {

const char* Code::load(const Elf64_Ehdr* image, const char* path) {
    return program_.load(image, path);
}

const char* Code::start(Random random, Random pads) {
    random_ = random;
    pads_ = pads;
    if (!arena_.reserve(program_, random_))
        return "there is no room for copies near it";
    newest_ = lay_copies();
    if (newest_ == nullptr)
        return "there is no memory for the copies of functions";
    redirect(*newest_, arena_.slots());
    warn_of_lost_breakpoints(program_);
    replace_originals(program_, arena_.slots());
    return nullptr;
}

void Code::stop() {
    arena_.give_back();
    while (newest_ != nullptr) {
        Generation* last = newest_;
        newest_ = last->older;
        drop_generation(*last);
    }
    program_.unload();
}

Generation* Code::lay_copies() {
    if (!settings().has(part_stack))
        return lay_generation(nullptr);
    Generation* deep = lay_generation(nullptr);
    if (deep == nullptr)
        return nullptr;
    deep->is_deep = true;
    Generation* generation = lay_generation(deep);
    if (generation == nullptr) {
        arena_.free_dead_pages(*deep);
        drop_generation(*deep);
        return nullptr;
    }
    generation->older = deep;
    return generation;
}

Generation* Code::lay_generation(Generation* deep) {
    Generation* generation = new_generation(program_);
    if (generation == nullptr)
        return nullptr;
    generation->deep = deep;
    generation->entry_bytes = deep == nullptr ? 0 : entry_room_bytes;
    const std::uint64_t pages = in_pages(draw_places(*generation, random_));
    if (!arena_.place(*generation, pages, random_)) {
        drop_generation(*generation);
        return nullptr;
    }
    const std::uint32_t count = program_.function_count();
    for (std::uint32_t index = 0; index < count; ++index)
        generation->copies[index] += generation->low;
    for (std::uint32_t at = 0; at < count; ++at) {
        lay_copy(*generation, generation->order[at], random_);
        if (deep != nullptr)
            write_pads(*generation, generation->order[at], pads_);
    }
    protect(generation->low, generation->high, PROT_READ | PROT_EXEC);
    arena_.own(*generation);
    return generation;
}

bool Code::lay_anew() {
    Generation* generation = lay_copies();
    if (generation == nullptr)
        return false;
    Generation* before = newest_;
    newest_ = generation;
    old_ones() = before;
    redirect(*generation, arena_.slots());
    for (Generation* old = before; old != nullptr; old = old->older)
        forget_branches(*old);
    return true;
}

void Code::begin_round(bool waits) {
    for (Generation* old = old_ones(); old != nullptr; old = old->older)
        forget_findings(*old, waits);
}

bool Code::bring_up_to_date() {
    bool changed = false;
    const std::uint32_t count = program_.function_count();
    for (Generation* old = old_ones(); old != nullptr; old = old->older) {
        for (std::uint32_t at = 0; at < count; ++at) {
            const std::uint32_t index = old->order[at];
            if (old->live[index] == 0 || old->is_current[index] != 0)
                continue;
            patch(*old, index);
            old->is_current[index] = 1;
            changed = true;
        }
    }
    return changed;
}

Generation*& Code::old_ones() const {
    return newest_->deep == nullptr ? newest_->older : newest_->deep->older;
}

void Code::patch(const Generation& generation, std::uint32_t index) const {
    const Generation* now = generation.is_deep ? newest_->deep : newest_;
    if (now == nullptr)
        return;
    const std::uint64_t start = generation.copies[index];
    Replacement changed(start - generation.entry_bytes, start + copy_bytes(generation, index));
    patch_copy(generation, *now, index, changed.at(start));
    changed.put_in_place();
}

bool Code::keeps_books_at(std::uint64_t address) const {
    for (const Generation* each = newest_; each != nullptr; each = each->older) {
        if (address - reinterpret_cast<std::uint64_t>(each) < each->bookkeeping_bytes)
            return true;
    }
    return false;
}

std::uint64_t Code::free_dead() {
    std::uint64_t freed = 0;
    for (Generation* old = old_ones(); old != nullptr; old = old->older)
        keep_findings(*old);
    Generation** link = &old_ones();
    while (*link != nullptr) {
        Generation* old = *link;
        freed += arena_.free_dead_pages(*old);
        if (arena_.is_used_by(*old)) {
            link = &old->older;
            continue;
        }
        *link = old->older;
        drop_generation(*old);
    }
    return freed;
}

bool Code::note(std::uint64_t address) {
    Generation* generation = arena_.generation_at(address);
    if (generation == nullptr)
        return false;
    const std::int64_t index = find_copy(*generation, address);
    if (index >= 0)
        __atomic_store_n(&generation->live[index], 1, __ATOMIC_RELAXED);
    return true;
}

bool Code::original(std::uint64_t address, std::uint64_t& found, std::uint64_t& distance) const {
    const Generation* generation = arena_.generation_at(address);
    const std::int64_t index = generation == nullptr ? -1 : find_copy(*generation, address);
    if (index < 0)
        return false;
    const auto function = static_cast<std::uint32_t>(index);
    found = program_.original(function) + offset_in_function(*generation, function, address);
    distance = address - found;
    return true;
}

std::uint64_t Code::landing(std::uint64_t from, std::uint64_t wanted) const {
    const Generation* generation = arena_.generation_at(from);
    const std::int64_t index = generation == nullptr ? -1 : find_copy(*generation, from);
    if (index < 0)
        return wanted;
    const auto function = static_cast<std::uint32_t>(index);
    const std::uint64_t start = program_.original(function);
    const std::uint64_t distance = from - start - offset_in_function(*generation, function, from);
    const std::uint64_t offset = wanted - distance - start;
    if (offset >= program_.function(function).size)
        return wanted;
    return CopyPlaces(*generation, function).address(static_cast<std::uint32_t>(offset));
}

}  // namespace steelyard::layout
