// What of a class's objects is free and no thread's, by the chunk that it is of.

#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "chunks.hpp"
#include "raw.hpp"

namespace steelyard::layout {

/// Zeroed; null where there is no memory.
template <typename T>
T* pages_for(std::size_t count) {
    return static_cast<T*>(map_pages(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE));
}

/// A chunk, and those of its objects that are free and no thread's: a bit for each granule that one
/// begins at, which is less than their names would be, and the same whatever class has the chunk.
struct Chunk {
    Name start = 0;
    std::uint32_t count = 0;
    std::uint64_t* free_bits = nullptr;
    std::uint32_t next_word = 0;  ///< where the last search ended

    /// False where it is free already.
    bool add(Name name);
    /// Takes up to `many` of them, how many there were; `words` is the size of `free_bits`.
    std::size_t take(Name* into, std::size_t many, std::size_t words);
    void clear(std::size_t words);
};

/// By the number of their first unit, and that number by each unit.
extern constinit __attribute__((visibility("hidden"))) Chunk* chunks;
extern constinit __attribute__((visibility("hidden"))) std::uint32_t* unit_chunks;

inline std::uint32_t chunk_of(Name name) {
    return unit_chunks[static_cast<std::size_t>(name) * granule_bytes / unit_bytes];
}

/// The chunks of a class. What is free comes back by whole chunks, so that what is made together
/// lies together, however often all of it was freed before.
class Central {
  public:
    /// False where there is no memory to note it.
    bool add(std::uint32_t chunk);
    void put(std::size_t index, const Name* from, std::size_t many);
    /// Of the chunk that has most, where that is `fewest` or more.
    std::size_t take_whole(std::size_t index, Name* into, std::size_t many, std::size_t fewest);
    /// Of one chunk after the other.
    std::size_t take(std::size_t index, Name* into, std::size_t many);
    /// Gives away a chunk of which all objects are free, to be another class's; false where none
    /// is.
    bool give_whole(std::size_t index, std::size_t alignment, std::uint32_t& chunk);

    /// Around a fork.
    void hold() { lock_.take(); }
    void resume() { lock_.give(); }
    void reset() { lock_.reset(); }

  private:
    /// `own_count_` where there is none.
    std::uint32_t fullest() const;
    bool grow();
    void set_count(std::size_t now) { __atomic_store_n(&count_, now, __ATOMIC_RELAXED); }

    std::uint32_t* own_ = nullptr;
    std::size_t count_ = 0;  ///< of objects, written under the lock and read without it
    Lock lock_;
    std::uint32_t own_count_ = 0, own_capacity_ = 0;
    std::uint32_t next_ = 0;  ///< where the last search among chunks with few free objects ended
};

}  // namespace steelyard::layout
