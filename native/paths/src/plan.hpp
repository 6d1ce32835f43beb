// What is changed in a program so that it records its call paths: the planner writes this file, and
// the recorder inside of the program maps it.

#pragma once

#include <array>
#include <cstdint>

namespace steelyard {

constexpr std::uint64_t plan_magic = 0x31686e6c70797473;  // "stypln1" with a number behind
constexpr std::size_t most_moved_bytes = 32, most_fixups = 4, jump_bytes = 5;

/// A field of four bytes in moved code: the distance from the end of its instruction to an address,
/// or half of the address itself.
struct Fixup {
    enum class Kind : std::uint8_t { distance, low_half, high_half };
    std::uint64_t target;  ///< virtual address
    std::uint8_t field;    ///< offsets in the moved code
    std::uint8_t end;
    Kind kind;
    std::array<std::uint8_t, 5> unused;
};

/// Why the entries of a function are not seen.
enum class Unwatched : std::uint32_t { none, part, too_short, branch_inside, unreadable, start };

/// One function: an entry of .eh_frame.
struct PlannedFunction {
    std::uint64_t start, end;
    /// Where the jump to the recorder is written.
    std::uint64_t place;
    /// The function that this is a part of, such as one that compilers keep apart as cold; itself
    /// otherwise.
    std::uint32_t owner;
    Unwatched unwatched;
    std::uint32_t replaced_bytes;
    std::uint32_t moved_bytes, fixup_count;
    std::uint32_t unused;
    std::array<std::uint8_t, most_moved_bytes> moved;
    std::array<Fixup, most_fixups> fixups;
};

/// Where the frame of a calling function is, by the address that its call returns to.
struct CallSite {
    enum class Frame : std::uint32_t { none, by_stack_pointer, by_frame_pointer };
    std::uint64_t return_address;
    std::uint32_t function;
    Frame frame;
    /// From the stack pointer at the entry of the called function, or from the frame pointer, to
    /// where the stack pointer was at the entry of the caller.
    std::int64_t distance;
};

/// The file: this, the functions by rising start, and a table of call sites by the hash of their
/// return address, of a power of two places.
struct PlanHeader {
    std::uint64_t magic;
    std::uint64_t device, inode, bytes, modified_ns;  ///< of the program's file
    std::uint64_t function_count, call_site_places;
    std::uint64_t image_end;  ///< of the loaded program, as virtual address
};

constexpr std::uint64_t call_site_place(std::uint64_t return_address, std::uint64_t places) {
    return (return_address * 0x9e3779b97f4a7c15U >> 20U) & (places - 1);
}

}  // namespace steelyard
