// What walks of the stack found, for as long as the words that they read are the same: callbacks
// that a library calls again and again, as qsort(3) does, are walked once.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace steelyard {

constexpr std::size_t most_read_words = 32, most_activations = 4, walk_places = 64;

/// A word of the stack, and where it is.
struct ReadWord {
    std::uint64_t address, value;
};

/// Where a function was entered: the stack pointer, which points at the return address, that
/// address, and the frame pointer.
struct Entry {
    std::uint64_t stack, return_address, frame_pointer;
};

struct RememberedWalk {
    struct Found {
        std::uint64_t entry_stack;
        std::uint32_t function;
        std::uint64_t call_site;
    };
    Entry entry;  ///< its stack is 0 where there is nothing
    bool uses_frame_pointer;
    std::uint32_t word_count, activation_count, known_function;
    std::uint64_t known_stack, call_site;
    std::array<Found, most_activations> activations;  ///< innermost first
    std::array<ReadWord, most_read_words> words;
};

class RememberedWalks {
  public:
    /// A walk that would read the same words and so find the same; nothing where none is known. All
    /// that was read lies above the entry, where the stack is still in use.
    const RememberedWalk* find(const Entry& entry) const {
        const RememberedWalk& walk = places_[place_of(entry)];
        if (walk.entry.stack != entry.stack || walk.entry.return_address != entry.return_address ||
            (walk.uses_frame_pointer && walk.entry.frame_pointer != entry.frame_pointer))
            return nullptr;
        for (std::uint32_t index = 0; index < walk.word_count; ++index) {
            const ReadWord& word = walk.words[index];
            if (*reinterpret_cast<const std::uint64_t*>(word.address) != word.value)
                return nullptr;
        }
        return &walk;
    }

    RememberedWalk* place_for(const Entry& entry) { return &places_[place_of(entry)]; }

  private:
    static std::size_t place_of(const Entry& entry) {
        constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
        return ((entry.stack ^ entry.return_address << 20U) * golden >> 40U) % walk_places;
    }

    std::array<RememberedWalk, walk_places> places_;
};

}  // namespace steelyard
