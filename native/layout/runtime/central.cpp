#include "central.hpp"

#include <sys/syscall.h>

namespace steelyard::layout {

constinit Chunk* chunks = nullptr;
constinit std::uint32_t* unit_chunks = nullptr;

namespace {

constexpr std::size_t word_bits = 64;

constexpr std::size_t bit_words(std::size_t index) {
    const std::size_t bytes =
        index < class_count ? chunk_bytes(index) : first_chunk_bytes(index - class_count);
    return bytes / granule_bytes / word_bits;
}

}  // namespace

bool Chunk::add(Name name) {
    const Name granule = name - start;
    std::uint64_t& word = free_bits[granule / word_bits];
    const std::uint64_t bit = std::uint64_t{1} << granule % word_bits;
    const bool is_new = (word & bit) == 0;
    word |= bit;
    count += is_new ? 1U : 0U;
    return is_new;
}

std::size_t Chunk::take(Name* into, std::size_t many, std::size_t words) {
    const std::size_t wanted = many < count ? many : count;
    std::size_t taken = 0;
    std::uint32_t word = next_word;
    while (taken < wanted) {
        word = word + 1 < words ? word + 1 : 0;
        std::uint64_t bits = free_bits[word];
        const Name first = start + word * static_cast<Name>(word_bits);
        for (; bits != 0 && taken < wanted; bits &= bits - 1)
            into[taken++] = first + static_cast<Name>(__builtin_ctzll(bits));
        free_bits[word] = bits;
    }
    next_word = word;
    count -= static_cast<std::uint32_t>(taken);
    return taken;
}

void Chunk::clear(std::size_t words) {
    for (std::size_t word = 0; word < words; ++word)
        free_bits[word] = 0;
    count = 0;
}

bool Central::add(std::uint32_t chunk) {
    const Guard guard(lock_);
    if (own_count_ == own_capacity_ && !grow())
        return false;
    own_[own_count_++] = chunk;
    return true;
}

void Central::put(std::size_t index, const Name* from, std::size_t many) {
    const Guard guard(lock_);
    std::size_t kept = 0;
    for (std::size_t at = 0; at < many; ++at) {
        Chunk& chunk = chunks[chunk_of(from[at])];
        if (chunk.free_bits == nullptr)
            chunk.free_bits =
                static_cast<std::uint64_t*>(take_books(bit_words(index) * sizeof(std::uint64_t)));
        // Else lost to the program, as there is no memory to remember it by.
        if (chunk.free_bits != nullptr)
            kept += chunk.add(from[at]) ? 1U : 0U;
    }
    set_count(count_ + kept);
}

std::size_t Central::take_whole(std::size_t index, Name* into, std::size_t many,
                                std::size_t fewest) {
    if (__atomic_load_n(&count_, __ATOMIC_RELAXED) < fewest)
        return 0;
    const Guard guard(lock_);
    const std::uint32_t most = fullest();
    if (most == own_count_ || chunks[own_[most]].count < fewest)
        return 0;
    const std::size_t taken = chunks[own_[most]].take(into, many, bit_words(index));
    set_count(count_ - taken);
    return taken;
}

std::size_t Central::take(std::size_t index, Name* into, std::size_t many) {
    if (__atomic_load_n(&count_, __ATOMIC_RELAXED) == 0)
        return 0;
    const Guard guard(lock_);
    std::size_t taken = 0;
    for (std::uint32_t seen = 0; seen < own_count_ && taken < many; ++seen) {
        next_ = next_ + 1 < own_count_ ? next_ + 1 : 0;
        taken += chunks[own_[next_]].take(into + taken, many - taken, bit_words(index));
    }
    set_count(count_ - taken);
    return taken;
}

bool Central::give_whole(std::size_t index, std::size_t alignment, std::uint32_t& chunk) {
    const std::uint32_t objects = chunk_objects(index);
    if (__atomic_load_n(&count_, __ATOMIC_RELAXED) < objects)
        return false;
    const Guard guard(lock_);
    const std::uint32_t most = fullest();
    if (most == own_count_ || chunks[own_[most]].count < objects ||
        own_[most] * unit_bytes % alignment != 0)
        return false;
    chunk = own_[most];
    own_[most] = own_[--own_count_];
    chunks[chunk].clear(bit_words(index));
    set_count(count_ - objects);
    return true;
}

std::uint32_t Central::fullest() const {
    std::uint32_t most = own_count_;
    for (std::uint32_t at = 0; at < own_count_; ++at) {
        if (most == own_count_ || chunks[own_[at]].count > chunks[own_[most]].count)
            most = at;
    }
    return most;
}

bool Central::grow() {
    const std::uint32_t bigger = own_capacity_ == 0 ? 1024 : own_capacity_ * 2;
    auto* place = pages_for<std::uint32_t>(bigger);
    if (place == nullptr)
        return false;
    if (own_count_ != 0)
        __builtin_memcpy(place, own_, own_count_ * sizeof *own_);
    if (own_ != nullptr)
        raw(SYS_munmap, word(own_), static_cast<long>(own_capacity_ * sizeof *own_));
    own_ = place;
    own_capacity_ = bigger;
    return true;
}

}  // namespace steelyard::layout
