#include "code.hpp"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "raw.hpp"
#include "settings.hpp"
#include "threads.hpp"

namespace steelyard::layout {

namespace {

constexpr std::uint64_t page_bytes = 4096;
// A branch reaches 2 GiB; the arena and the image share that.
constexpr std::uint64_t reach_bytes = 0x7fff0000;
constexpr std::uint64_t smallest_arena_bytes = 64U << 20U, largest_arena_bytes = 1U << 30U;
constexpr std::uint64_t generations_of_room = 32;
// Gaps between copies: on the mean 56 bytes, so that a neighbour's size says nothing about a place.
constexpr std::uint32_t gap_steps = 8;
// Pads up to 4 KiB (Curtsinger and Berger, section 3.4) in steps of the stack's alignment.
constexpr std::uint32_t pad_steps = 256;
constexpr std::uint32_t pad_step_bytes = 16;
constexpr int most_rounds = 8;
constexpr std::uint8_t freed_mark = 2;  // in Generation::is_current
constexpr int attempts = 256;

Code the_code;

std::uint64_t in_pages(std::uint64_t bytes) {
    return (bytes + page_bytes - 1) / page_bytes;
}

std::uint64_t page_of(std::uint64_t address) {
    return address / page_bytes * page_bytes;
}

std::uint8_t* bytes_at(std::uint64_t address) {
    return reinterpret_cast<std::uint8_t*>(address);
}

std::int32_t read_word(const std::uint8_t* place) {
    std::int32_t value = 0;
    __builtin_memcpy(&value, place, sizeof value);
    return value;
}

void write_word(std::uint8_t* place, std::int64_t value) {
    const auto narrow = static_cast<std::int32_t>(value);
    __builtin_memcpy(place, &narrow, sizeof narrow);
}

void protect(std::uint64_t low, std::uint64_t high, int protection) {
    if (failed(
            raw(SYS_mprotect, static_cast<long>(low), static_cast<long>(high - low), protection)))
        fail("the protection of pages cannot be changed");
}

template <typename T>
T* array(std::uint8_t*& place, std::uint64_t count) {
    T* found = reinterpret_cast<T*>(place);
    place += (count * sizeof(T) + 15) / 16 * 16;
    return found;
}

Generation* new_generation(std::uint64_t functions) {
    const std::uint64_t bytes = sizeof(Generation) + functions * 14 + 5 * 16;
    auto* place = static_cast<std::uint8_t*>(map_pages(nullptr, bytes, PROT_READ | PROT_WRITE));
    if (place == nullptr)
        return nullptr;
    auto* generation = array<Generation>(place, 1);
    generation->bookkeeping_bytes = bytes;
    generation->copies = array<std::uint64_t>(place, functions);
    generation->order = array<std::uint32_t>(place, functions);
    generation->live = array<std::uint8_t>(place, functions);
    generation->is_current = array<std::uint8_t>(place, functions);
    return generation;
}

/// A change to pages of code. It is mapped in one step, so no thread sees half of it, the pages can
/// be those that run just now, and no page is ever writable and executable.
class Replacement {
  public:
    Replacement(std::uint64_t low, std::uint64_t high)
        : low_(page_of(low)), size_(in_pages(high) * page_bytes - low_) {
        changed_ = static_cast<std::uint8_t*>(map_pages(nullptr, size_, PROT_READ | PROT_WRITE));
        if (changed_ == nullptr)
            fail("there is no memory for changed code");
        __builtin_memcpy(changed_, bytes_at(low_), size_);
    }

    std::uint8_t* at(std::uint64_t address) const { return changed_ + (address - low_); }

    void put_in_place() const {
        const auto start = reinterpret_cast<std::uint64_t>(changed_);
        protect(start, start + size_, PROT_READ | PROT_EXEC);
        const auto size = static_cast<long>(size_);
        if (failed(raw(SYS_mremap, word(changed_), size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
                       static_cast<long>(low_))))
            fail("changed code cannot be put in place");
    }

  private:
    std::uint64_t low_, size_;
    std::uint8_t* changed_ = nullptr;
};

/// All branches of a generation lead to copies that are no longer the newest.
void forget_branches(Generation& generation) {
    for (std::uint32_t index = 0; index < program().function_count(); ++index) {
        if (generation.is_current[index] != freed_mark)
            generation.is_current[index] = 0;
    }
}

/// Every thread executes a serialising instruction before it goes on in user mode.
void serialise_all_cores() {
    raw(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
}

}  // namespace

Code& code() {
    return the_code;
}

std::uint64_t Code::original_address(std::uint32_t index) const {
    return program().address(program().function(index).start);
}

void Code::start(Random random, Random pads) {
    random_ = random;
    pads_ = pads;
    keeps_ = program().header().keeps_copies != 0;
    raw(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE);
    const auto& header = program().header();
    has_labels_ = static_cast<std::uint8_t*>(
        map_pages(nullptr, header.function_count + 1, PROT_READ | PROT_WRITE));
    if (has_labels_ == nullptr)
        fail("there is no memory for the copies of functions");
    for (std::uint32_t at = 0; at < header.label_count; ++at)
        has_labels_[program().label(at).function] = 1;
    reserve_arena();
    newest_ = lay_copies();
    if (newest_ == nullptr)
        fail("there is no memory for the copies of functions");
    redirect(*newest_);
    replace_originals();
}

void Code::reserve_arena() {
    const auto& header = program().header();
    std::uint64_t bytes = 0;
    for (std::uint32_t index = 0; index < header.function_count; ++index)
        bytes += program().function(index).block_bytes + gap_steps * copy_alignment_bytes;
    std::uint64_t size = in_pages(bytes * generations_of_room) * page_bytes;
    size = size < smallest_arena_bytes ? smallest_arena_bytes : size;
    size = size > largest_arena_bytes ? largest_arena_bytes : size;
    const std::uint64_t slot_bytes =
        in_pages((header.function_count + header.label_count) * sizeof(std::uint64_t)) * page_bytes;
    const std::uint64_t low = page_of(program().address(header.image_low));
    const std::uint64_t high = in_pages(program().address(header.image_high)) * page_bytes;
    if (high - low + size + slot_bytes > reach_bytes)
        fail("the program is too large to be moved");
    const auto room_pages =
        static_cast<std::uint32_t>((reach_bytes - (high - low) - size - slot_bytes) / page_bytes);
    for (int attempt = 0; attempt < attempts && arena_ == 0; ++attempt) {
        const std::uint64_t distance = std::uint64_t{random_.below(room_pages) + 1} * page_bytes;
        const std::uint64_t below = low - distance - size - slot_bytes;
        const std::uint64_t place = attempt % 8 == 7 || below > low ? high + distance : below;
        if (map_pages_at_free(bytes_at(place), size + slot_bytes, PROT_NONE) != nullptr)
            arena_ = place + slot_bytes;
    }
    if (arena_ == 0)
        fail("there is no room for copies near the program");
    slots_ = static_cast<std::uint64_t*>(
        map_pages(bytes_at(arena_ - slot_bytes), slot_bytes, PROT_READ | PROT_WRITE, true));
    arena_pages_ = size / page_bytes;
    owners_ = static_cast<Generation**>(
        map_pages(nullptr, arena_pages_ * sizeof(Generation*), PROT_READ | PROT_WRITE));
    if (slots_ == nullptr || owners_ == nullptr)
        fail("there is no memory for the copies of functions");
}

std::uint64_t Code::find_hole(std::uint64_t pages) {
    if (pages >= arena_pages_)
        return 0;
    const auto places = static_cast<std::uint32_t>(arena_pages_ - pages);
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const std::uint64_t first = random_.below(places);
        std::uint64_t free = 0;
        while (free < pages && owners_[first + free] == nullptr)
            ++free;
        if (free == pages)
            return arena_ + first * page_bytes;
    }
    return 0;
}

void Code::draw_places(Generation& generation, std::uint64_t& bytes) {
    const std::uint32_t count = program().function_count();
    // Without it the copies are those of other pads, in the linker's order and close together.
    const bool is_random = settings().has(part_code);
    for (std::uint32_t index = 0; index < count; ++index) {
        const std::uint32_t other = is_random ? random_.below(index + 1) : index;
        generation.order[index] = generation.order[other];
        generation.order[other] = index;
    }
    std::uint64_t place = 0;
    if (is_random)
        place = random_.below(page_bytes / copy_alignment_bytes) * copy_alignment_bytes;
    for (std::uint32_t at = 0; at < count; ++at) {
        const std::uint32_t index = generation.order[at];
        const auto& function = program().function(index);
        place = (place + copy_alignment_bytes - 1) / copy_alignment_bytes * copy_alignment_bytes;
        if (is_random)
            place += random_.below(gap_steps) * copy_alignment_bytes;
        // Where a function does not start on the boundary, its loops are aligned relative to it.
        generation.copies[index] = place + function.start % copy_alignment_bytes;
        // One byte more: where a call does not return, its return address is the end of the copy.
        place += function.start % copy_alignment_bytes + function.block_bytes + 1;
    }
    bytes = place;
}

Generation* Code::lay_copies() {
    const std::uint32_t count = program().function_count();
    Generation* generation = new_generation(count);
    if (generation == nullptr)
        return nullptr;
    std::uint64_t bytes = 0;
    draw_places(*generation, bytes);
    const std::uint64_t pages = in_pages(bytes);
    const std::uint64_t low = find_hole(pages);
    const bool placed = low != 0 && map_pages(bytes_at(low), pages * page_bytes,
                                              PROT_READ | PROT_WRITE, true) != nullptr;
    if (!placed) {
        raw(SYS_munmap, word(generation), static_cast<long>(generation->bookkeeping_bytes));
        return nullptr;
    }
    generation->number = next_number_++;
    generation->low = low;
    generation->high = low + pages * page_bytes;
    for (std::uint32_t index = 0; index < count; ++index)
        generation->copies[index] += low;
    for (std::uint32_t at = 0; at < count; ++at) {
        lay_copy(*generation, generation->order[at]);
        write_pads(*generation, generation->order[at]);
    }
    protect(generation->low, generation->high, PROT_READ | PROT_EXEC);
    for (std::uint64_t page = 0; page < pages; ++page)
        __atomic_store_n(&owners_[(low - arena_) / page_bytes + page], generation,
                         __ATOMIC_RELEASE);
    counts_.arena_pages += pages;
    if (counts_.arena_pages > counts_.most_arena_pages)
        counts_.most_arena_pages = counts_.arena_pages;
    return generation;
}

void Code::lay_copy(const Generation& generation, std::uint32_t index) const {
    const auto& function = program().function(index);
    const auto& next = program().function(index + 1);
    const std::uint64_t copy = generation.copies[index];
    const auto distance = static_cast<std::int64_t>(copy - original_address(index));
    const std::uint8_t* pristine = program().pristine(function.start);
    __builtin_memcpy(bytes_at(copy), pristine, function.size);
    for (std::uint32_t at = function.first_fixup; at < next.first_fixup; ++at) {
        const auto& fixup = program().fixup(at);
        std::int64_t field = read_word(pristine + fixup.offset) - distance;
        if (fixup.target == target_fixed) {
            // What it leads to stays.
        } else if ((fixup.target & target_jump_table) != 0) {
            const auto& table = program().jump_table(fixup.target & ~target_jump_table);
            field += static_cast<std::int64_t>(copy + table.place - program().address(table.start));
        } else {
            field += static_cast<std::int64_t>(generation.copies[fixup.target] -
                                               original_address(fixup.target));
        }
        write_word(bytes_at(copy + fixup.offset), field);
    }
    for (std::uint32_t at = function.first_jump_table; at < next.first_jump_table; ++at) {
        const auto& table = program().jump_table(at);
        const std::uint8_t* from = program().pristine(table.start);
        const auto change = distance - static_cast<std::int64_t>(copy + table.place -
                                                                 program().address(table.start));
        for (std::uint32_t entry = 0; entry < table.size; entry += sizeof(std::int32_t))
            write_word(bytes_at(copy + table.place + entry), read_word(from + entry) + change);
    }
}

void Code::write_pads(const Generation& generation, std::uint32_t index) {
    if (!settings().has(part_stack))
        return;
    // A frame whose function is entered through labels may be released by another copy than made
    // it.
    Random once(settings().seed ^ index);
    Random& drawn = has_labels_[index] != 0 ? once : pads_;
    const std::int64_t pad = drawn.below(pad_steps) * pad_step_bytes;
    for (std::uint32_t at = program().function(index).first_pad;
         at < program().function(index + 1).first_pad; ++at)
        write_word(bytes_at(generation.copies[index] + program().pad(at)), pad);
}

void Code::redirect(const Generation& generation) {
    const auto& header = program().header();
    for (std::uint32_t index = 0; index < header.function_count; ++index)
        __atomic_store_n(&slots_[index], generation.copies[index], __ATOMIC_RELEASE);
    for (std::uint32_t at = 0; at < header.label_count; ++at) {
        const auto& label = program().label(at);
        const std::uint64_t inside = label.address - program().function(label.function).start;
        __atomic_store_n(&slots_[header.function_count + at],
                         generation.copies[label.function] + inside, __ATOMIC_RELEASE);
    }
}

void Code::replace_originals() {
    constexpr int trap = 0xcc;
    const auto& header = program().header();
    if (header.function_count == 0)
        return;
    Replacement text(program().address(header.text_low), program().address(header.text_high));
    const auto write_stub = [&](std::uint64_t address, const std::uint64_t* slot) {
        std::uint8_t* place = text.at(address);
        place[0] = 0xff;  // jmp *slot(%rip)
        place[1] = 0x25;
        write_word(place + 2, word(slot) - static_cast<std::int64_t>(address + stub_bytes));
    };
    for (std::uint32_t index = 0; index < header.function_count; ++index) {
        __builtin_memset(text.at(original_address(index)), trap, program().function(index).size);
        write_stub(original_address(index), &slots_[index]);
    }
    for (std::uint32_t at = 0; at < header.label_count; ++at)
        write_stub(program().address(program().label(at).address),
                   &slots_[header.function_count + at]);
    text.put_in_place();
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
    redirect(*generation);
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

void Code::patch(const Generation& generation, std::uint32_t index) {
    const std::uint64_t start = generation.copies[index];
    Replacement changed(start, start + program().function(index).size);
    patch_copy(generation, index, changed.at(start));
    changed.put_in_place();
}

void Code::patch_copy(const Generation& generation, std::uint32_t index, std::uint8_t* into) const {
    const auto& function = program().function(index);
    const auto& next = program().function(index + 1);
    const std::uint8_t* pristine = program().pristine(function.start);
    const auto distance =
        static_cast<std::int64_t>(generation.copies[index] - original_address(index));
    for (std::uint32_t at = function.first_fixup; at < next.first_fixup; ++at) {
        const auto& fixup = program().fixup(at);
        if ((fixup.target & target_jump_table) != 0)
            continue;  // or a place that stays
        const auto target_distance = static_cast<std::int64_t>(newest_->copies[fixup.target] -
                                                               original_address(fixup.target));
        write_word(into + fixup.offset,
                   read_word(pristine + fixup.offset) + target_distance - distance);
    }
}

void Code::free_dead() {
    Generation** link = &newest_->older;
    while (*link != nullptr) {
        Generation* old = *link;
        free_pages(*old);
        bool is_used = false;
        for (std::uint64_t page = (old->low - arena_) / page_bytes;
             page < (old->high - arena_) / page_bytes; ++page)
            is_used |= owners_[page] == old;
        if (is_used) {
            link = &old->older;
            continue;
        }
        *link = old->older;
        raw(SYS_munmap, word(old), static_cast<long>(old->bookkeeping_bytes));
    }
}

/// Gives back the pages of a generation on which no live copy lies.
void Code::free_pages(Generation& generation) {
    const std::uint32_t count = program().function_count();
    std::uint64_t free_from = generation.low;
    const auto release = [&](std::uint64_t until) {
        std::uint64_t run_from = free_from;
        const auto release_run = [&](std::uint64_t run_until) {
            if (run_until > run_from)
                map_pages(bytes_at(run_from), run_until - run_from, PROT_NONE, true);
        };
        for (std::uint64_t at = free_from; at < until; at += page_bytes) {
            Generation*& owner = owners_[(at - arena_) / page_bytes];
            if (owner != &generation) {
                release_run(at);
                run_from = at + page_bytes;
                continue;
            }
            __atomic_store_n(&owner, nullptr, __ATOMIC_RELEASE);
            --counts_.arena_pages;
        }
        release_run(until);
    };
    for (std::uint32_t at = 0; at < count; ++at) {
        const std::uint32_t index = generation.order[at];
        const std::uint64_t start = generation.copies[index];
        if (generation.live[index] == 0) {
            counts_.freed += generation.is_current[index] != freed_mark ? 1U : 0U;
            generation.is_current[index] = freed_mark;
            continue;
        }
        release(page_of(start));
        const std::uint64_t end =
            in_pages(start + program().function(index).block_bytes) * page_bytes;
        free_from = end > free_from ? end : free_from;
    }
    release(generation.high);
}

Generation* Code::generation_at(std::uint64_t address) const {
    const std::uint64_t page = (address - arena_) / page_bytes;
    if (address < arena_ || page >= arena_pages_)
        return nullptr;
    return __atomic_load_n(&owners_[page], __ATOMIC_ACQUIRE);
}

std::int64_t Code::find_copy(const Generation& generation, std::uint64_t address) const {
    std::uint32_t low = 0;
    std::uint32_t high = program().function_count();
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (generation.copies[generation.order[middle]] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return -1;
    const std::uint32_t index = generation.order[low - 1];
    // A call that does not return may be the last instruction: its return address is the end.
    const std::uint64_t end = generation.copies[index] + program().function(index).block_bytes;
    return address <= end ? static_cast<std::int64_t>(index) : -1;
}

void Code::note(std::uint64_t address) {
    Generation* generation = generation_at(address);
    if (generation == nullptr)
        return;
    const std::int64_t index = find_copy(*generation, address);
    if (index >= 0)
        __atomic_store_n(&generation->live[index], 1, __ATOMIC_RELAXED);
}

bool Code::original(std::uint64_t address, std::uint64_t& found, std::uint64_t& distance) const {
    const Generation* generation = generation_at(address);
    const std::int64_t index = generation == nullptr ? -1 : find_copy(*generation, address);
    if (index < 0)
        return false;
    const auto function = static_cast<std::uint32_t>(index);
    distance = generation->copies[function] - original_address(function);
    found = address - distance;
    return true;
}

}  // namespace steelyard::layout
