#include "blocks.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "code_file.hpp"
#include "pages.hpp"
#include "raw.hpp"

namespace steelyard::layout {

namespace {

constexpr std::uint32_t nowhere = ~0U;
// How often the block that is laid next is one that control goes on to: 3 of 4 times, so that
// traces are four blocks long on the mean, as long as they are between calls.
constexpr std::uint32_t cut_mask = 3;

/// What was drawn for a block, in bits.
enum Form : std::uint8_t {
    inverted = 1,  ///< the branch is taken where it was not
    goes_on = 2,   ///< what it goes on to lies right behind it
};

/// For one function at a time; moves are held, or it is one.
struct Scratch {
    std::uint32_t* order = nullptr;
    std::uint8_t* forms = nullptr;
    std::uint32_t capacity = 0;

    void reserve(std::uint32_t count) {
        if (count <= capacity)
            return;
        const std::uint64_t bytes = std::uint64_t{count} * 2 * sizeof(std::uint32_t);
        auto* place =
            static_cast<std::uint32_t*>(map_pages(nullptr, bytes, PROT_READ | PROT_WRITE));
        if (place == nullptr)
            fail("there is no memory to lay basic blocks");
        if (order != nullptr)
            raw(SYS_munmap, word(order),
                static_cast<long>(std::uint64_t{capacity} * 2 * sizeof(std::uint32_t)));
        order = place;
        forms = reinterpret_cast<std::uint8_t*>(place + count);
        capacity = count;
    }
};

Scratch scratch;

/// The blocks of a function, and where they lie in a copy.
struct Cut {
    const BlockEntry* blocks;
    std::uint32_t count;
    std::uint32_t* places;

    Cut(const Generation& generation, std::uint32_t index) {
        const Program& program = *generation.program;
        const std::uint32_t first = program.function(index).first_block;
        blocks = &program.block(first);
        count = program.function(index + 1).first_block - first;
        places = generation.block_places + first;
    }
};

/// What lies behind a block if nothing is put between, and the form of its end.
std::uint32_t draw_next(const BlockEntry& block, std::uint32_t at, std::uint32_t drawn,
                        std::uint8_t& form) {
    form = 0;
    if (block.end == BlockEnd::stops)
        return nowhere;
    if (block.end == BlockEnd::branches)
        form = (drawn & (cut_mask + 1)) != 0 ? inverted : 0;
    const bool to_taken = block.end == BlockEnd::jumps || form == inverted;
    return to_taken ? block.taken : at + 1;
}

/// Lays traces: from a random block on to what follows it, until that lies elsewhere already or
/// the trace is cut. The first block comes first, as it is the entry.
void draw_places(const Cut& cut, Random& random) {
    for (std::uint32_t at = 0; at < cut.count; ++at) {
        cut.places[at] = nowhere;
        const std::uint32_t other = at == 0 ? 0 : 1 + random.below(at);
        scratch.order[at] = other < at ? scratch.order[other] : at;
        scratch.order[other] = at;
    }
    std::uint32_t place = 0;
    for (std::uint32_t at = 0; at < cut.count; ++at) {
        for (std::uint32_t next = scratch.order[at]; next != nowhere;) {
            const std::uint32_t now = next;
            if (cut.places[now] != nowhere)
                break;
            const BlockEntry& block = cut.blocks[now];
            const std::uint32_t drawn = random.next();
            std::uint8_t form = 0;
            cut.places[now] = place;
            place += block.bytes + (block.end == BlockEnd::branches ? branch_bytes : 0);
            next = draw_next(block, now, drawn, form);
            if (next != nowhere && ((drawn & cut_mask) == 0 || cut.places[next] != nowhere)) {
                place += jump_bytes;
                next = nowhere;
            } else if (next != nowhere) {
                form |= goes_on;
            }
            scratch.forms[now] = form;
        }
    }
}

void write_jump(std::uint8_t* place, const std::uint8_t* target) {
    const auto distance = static_cast<std::int32_t>(target - (place + jump_bytes));
    *place = 0xe9;
    __builtin_memcpy(place + 1, &distance, sizeof distance);
}

void write_branch(std::uint8_t* place, unsigned condition, const std::uint8_t* target) {
    const auto distance = static_cast<std::int32_t>(target - (place + branch_bytes));
    place[0] = 0x0f;
    place[1] = static_cast<std::uint8_t>(0x80U | condition);
    __builtin_memcpy(place + 2, &distance, sizeof distance);
}

}  // namespace

bool is_cut(const Generation& generation, std::uint32_t index) {
    return generation.block_places != nullptr && generation.program->block_count(index) != 0;
}

void lay_blocks(const Generation& generation, std::uint32_t index, Random& random) {
    const Program& program = *generation.program;
    const Cut cut(generation, index);
    scratch.reserve(cut.count);
    draw_places(cut, random);
    std::uint8_t* copy = bytes_at(generation.copies[index]);
    const std::uint8_t* pristine = program.pristine(program.function(index).start);
    for (std::uint32_t at = 0; at < cut.count; ++at) {
        const BlockEntry& block = cut.blocks[at];
        std::uint8_t* place = copy + cut.places[at];
        __builtin_memcpy(place, pristine + block.start, block.bytes);
        place += block.bytes;
        if (block.end == BlockEnd::stops)
            continue;
        const bool is_inverted = (scratch.forms[at] & inverted) != 0;
        const bool to_taken = block.end == BlockEnd::jumps || is_inverted;
        if (block.end == BlockEnd::branches) {
            const unsigned condition = block.condition ^ (is_inverted ? 1U : 0U);
            write_branch(place, condition, copy + cut.places[is_inverted ? at + 1 : block.taken]);
            place += branch_bytes;
        }
        if ((scratch.forms[at] & goes_on) == 0)
            write_jump(place, copy + cut.places[to_taken ? block.taken : at + 1]);
    }
}

std::uint32_t offset_in_function(const Generation& generation, std::uint32_t index,
                                 std::uint64_t address) {
    if (address < generation.copies[index])
        return 0;  // at its entry
    const auto inside = static_cast<std::uint32_t>(address - generation.copies[index]);
    if (!is_cut(generation, index))
        return inside;
    const Cut cut(generation, index);
    std::uint32_t before = 0;
    for (std::uint32_t at = 0; at < cut.count; ++at) {
        if (inside - cut.places[at] < cut.blocks[at].bytes)
            return cut.blocks[at].start + (inside - cut.places[at]);
        if (cut.places[at] <= inside && cut.places[at] >= cut.places[before])
            before = at;
    }
    return cut.blocks[before].start + cut.blocks[before].bytes;
}

CopyPlaces::CopyPlaces(const Generation& generation, std::uint32_t index)
    : copy_(generation.copies[index]) {
    const auto& function = generation.program->function(index);
    tables_ = copy_ + function.code_bytes;
    if (!is_cut(generation, index))
        return;
    const Cut cut(generation, index);
    tables_ = copy_ + function.cut_bytes;
    blocks_ = cut.blocks;
    places_ = cut.places;
    count_ = cut.count;
}

void CopyPlaces::seek(std::uint32_t offset) {
    const auto holds = [&](std::uint32_t block) {
        return blocks_[block].start <= offset &&
               (block + 1 == count_ || offset < blocks_[block + 1].start);
    };
    if (holds(current_))
        return;
    std::uint32_t low = 0;
    std::uint32_t high = count_;
    if (current_ + 1 < count_ && holds(current_ + 1)) {
        ++current_;
        return;
    }
    while (high - low > 1) {
        const std::uint32_t middle = (low + high) / 2;
        if (blocks_[middle].start <= offset)
            low = middle;
        else
            high = middle;
    }
    current_ = low;
}

std::uint64_t CopyPlaces::address(std::uint32_t offset) {
    if (blocks_ == nullptr)
        return copy_ + offset;
    seek(offset);
    return copy_ + places_[current_] + (offset - blocks_[current_].start);
}

bool CopyPlaces::is_rewritten(std::uint32_t offset) {
    if (blocks_ == nullptr)
        return false;
    seek(offset);
    return offset - blocks_[current_].start >= blocks_[current_].bytes;
}

}  // namespace steelyard::layout
