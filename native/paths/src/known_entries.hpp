// Entries of functions that came before, so that one that comes again is noted without a search: an
// interpreter or a compressor calls from few places, at few heights of the stack.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace steelyard {

/// An entry by a call from a frame that is where the frame table says. It is the same entry where
/// all of this is the same, the frame of the caller is `distance` above, and that frame's node is
/// the parent of `node`.
struct KnownEntry {
    std::uint64_t return_address;  ///< 0: none
    std::uint32_t stack_half;      ///< the lower half of the stack pointer
    /// To the entry of the caller, from the stack pointer; one more, an odd number, from the frame
    /// pointer.
    std::int32_t distance;
    std::uint32_t node, kind;  ///< of the frame that is made
    std::uint32_t caller;      ///< index of its frame
    std::uint32_t function;
};

struct KnownEntries {
    static constexpr std::size_t places = 4096;

    /// `steelyard_entry` finds it in the same way. Return addresses are spread by a product
    /// (D. Knuth, The Art of Computer Programming 3, 6.4); stacks are a few bytes apart.
    KnownEntry& place_of(std::uint64_t return_address, std::uint64_t stack,
                         std::uint32_t function) {
        constexpr auto golden = static_cast<std::uint64_t>(-1640531535LL);
        return at[(return_address * golden + 8U * std::uint64_t{function} + stack) / 8U % places];
    }

    /// Not by memset(3), which may use vector registers.
    void forget() {
        for (KnownEntry& entry : at)
            entry.return_address = 0;
    }

    std::array<KnownEntry, places> at;
};

}  // namespace steelyard
