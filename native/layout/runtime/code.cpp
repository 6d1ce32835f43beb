#include "code.hpp"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "copying.hpp"
#include "pages.hpp"
#include "program.hpp"
#include "raw.hpp"
#include "threads.hpp"

namespace steelyard::layout {

namespace {

constexpr int most_rounds = 8;

Code the_code;

/// Every thread executes a serialising instruction before it goes on in user mode.
void serialise_all_cores() {
    raw(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
}

}  // namespace

Code& code() {
    return the_code;
}

void Code::start(Random random, Random pads) {
    random_ = random;
    pads_ = pads;
    keeps_ = program().header().keeps_copies != 0;
    raw(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE);
    arena_.reserve(random_);
    newest_ = lay_copies();
    if (newest_ == nullptr)
        fail("there is no memory for the copies of functions");
    redirect(*newest_, arena_.slots());
    replace_originals(arena_.slots());
}

Generation* Code::lay_copies() {
    Generation* generation = new_generation();
    if (generation == nullptr)
        return nullptr;
    const std::uint64_t pages = in_pages(draw_places(*generation, random_));
    if (!arena_.place(*generation, pages, random_)) {
        drop_generation(*generation);
        return nullptr;
    }
    generation->number = next_number_++;
    const std::uint32_t count = program().function_count();
    for (std::uint32_t index = 0; index < count; ++index)
        generation->copies[index] += generation->low;
    for (std::uint32_t at = 0; at < count; ++at) {
        lay_copy(*generation, generation->order[at]);
        write_pads(*generation, generation->order[at], pads_);
    }
    protect(generation->low, generation->high, PROT_READ | PROT_EXEC);
    arena_.own(*generation);
    return generation;
}

void Code::move() {
    const std::uint64_t began_ns = now_ns();
    Generation* generation = lay_copies();
    if (generation == nullptr) {
        ++counts_.postponed;
        return;
    }
    generation->older = newest_;
    newest_ = generation;
    redirect(*generation, arena_.slots());
    for (Generation* old = generation->older; old != nullptr; old = old->older)
        forget_branches(*old);
    if (!keeps_ && settle())
        free_dead();
    else if (!keeps_)
        ++counts_.postponed;
    ++counts_.moves;
    const std::uint64_t spent_ns = now_ns() - began_ns;
    counts_.total_move_ns += spent_ns;
    if (spent_ns > counts_.longest_move_ns)
        counts_.longest_move_ns = spent_ns;
}

/// Rounds until every thread is known to be in copies whose branches lead to the newest ones. Then
/// nobody can enter an old copy any more: a copy is entered by a branch of a copy that is entered,
/// by a jump from an original, or by a return, and the returns are on the stacks.
bool Code::settle() {
    for (int round = 0; round < most_rounds; ++round) {
        for (Generation* old = newest_->older; old != nullptr; old = old->older)
            __builtin_memset(old->live, 0, program().function_count());
        serialise_all_cores();
        if (!note_all_threads())
            return false;
        if (!bring_up_to_date())
            return true;
    }
    return false;
}

/// Lets the branches of live copies lead to the newest ones; whether there was one to change.
bool Code::bring_up_to_date() {
    bool changed = false;
    const std::uint32_t count = program().function_count();
    for (Generation* old = newest_->older; old != nullptr; old = old->older) {
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

void Code::patch(const Generation& generation, std::uint32_t index) const {
    const std::uint64_t start = generation.copies[index];
    Replacement changed(start, start + program().function(index).size);
    patch_copy(generation, *newest_, index, changed.at(start));
    changed.put_in_place();
}

void Code::free_dead() {
    Generation** link = &newest_->older;
    while (*link != nullptr) {
        Generation* old = *link;
        counts_.freed += arena_.free_dead_pages(*old);
        if (arena_.is_used_by(*old)) {
            link = &old->older;
            continue;
        }
        *link = old->older;
        drop_generation(*old);
    }
}

void Code::note(std::uint64_t address) {
    Generation* generation = arena_.generation_at(address);
    if (generation == nullptr)
        return;
    const std::int64_t index = find_copy(*generation, address);
    if (index >= 0)
        __atomic_store_n(&generation->live[index], 1, __ATOMIC_RELAXED);
}

bool Code::original(std::uint64_t address, std::uint64_t& found, std::uint64_t& distance) const {
    const Generation* generation = arena_.generation_at(address);
    const std::int64_t index = generation == nullptr ? -1 : find_copy(*generation, address);
    if (index < 0)
        return false;
    const auto function = static_cast<std::uint32_t>(index);
    distance = generation->copies[function] - original_address(function);
    found = address - distance;
    return true;
}

}  // namespace steelyard::layout
