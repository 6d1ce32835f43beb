#include "waiting.hpp"

#include <sys/syscall.h>

#include <cstdint>

#include "homes.hpp"
#include "memory_map.hpp"
#include "modules.hpp"
#include "process_files.hpp"
#include "raw.hpp"

namespace steelyard::layout {

namespace {

constexpr std::uint64_t clone3_number = 435;

/// Where a thread waits.
struct Waiting {
    std::uint64_t call, stack_pointer, place;
};

/// Reads proc(5)'s `syscall`: the number of the call, its arguments, the stack pointer and the
/// place; without a call the number is -1. False where the thread runs.
bool read_waiting(const char* text, Waiting& found) {
    if (*text < '-' || *text > '9')
        return false;
    found.call = decimal(text);
    while (*text != '\0') {
        if (text[0] == '0' && text[1] == 'x') {
            found.stack_pointer = found.place;
            found.place = hexadecimal(text);
        } else {
            ++text;
        }
    }
    return found.stack_pointer != 0;
}

/// A child that has the memory of a thread in vfork(2) runs on its stack, below its frames, and
/// glibc keeps the address that the thread goes on at in a register meanwhile. It is asked, and so
/// answers when its child has gone.
bool lends_its_stack(const Waiting& waiting) {
    return waiting.call == SYS_vfork || waiting.call == SYS_clone || waiting.call == clone3_number;
}

/// Notes what lies on the stack of a thread that waits, by way of the file `memory`: should it go
/// on meanwhile and end, its stack is gone, and reading that itself would end the process. False
/// where the stack could not be read to its end.
bool note_stack_of_other(long memory, std::uint64_t stack_pointer, std::uint64_t high) {
    alignas(8) static char piece[1U << 14U];
    for (std::uint64_t at = stack_pointer / 8 * 8; at + 8 <= high;) {
        const std::uint64_t left = (high - at) / 8 * 8;
        const std::uint64_t wanted = left < sizeof piece ? left : sizeof piece;
        const long got =
            raw(SYS_pread64, memory, word(piece), static_cast<long>(wanted), static_cast<long>(at));
        if (failed(got) || got < 8)
            return false;
        const auto* words = reinterpret_cast<const std::uint64_t*>(piece);
        for (long index = 0; index < got / 8; ++index)
            modules().note(words[index]);
        at += static_cast<std::uint64_t>(got / 8 * 8);
    }
    return true;
}

// Places of words in the ucontext_t of a handler's frame, which is the kernel's and glibc's alike.
constexpr std::size_t stack_start_word = 2, stack_size_word = 4, stack_pointer_word = 20;
constexpr std::size_t segments_word = 23, context_words = 24;
constexpr std::uint64_t user_code_segment = 0x33;
// Below the stack pointer a function may keep words that no signal overwrites.
constexpr std::uint64_t red_zone_bytes = 128;
// What lies beyond on a stack of unknown size, the search of all memory finds.
constexpr std::uint64_t most_unknown_bytes = 1U << 20U;

/// An alternate stack, and the stack pointer before the thread came to it.
struct Alternate {
    std::uint64_t high = 0, interrupted = 0;
};

/// The outermost frame of a handler of signals says it: of those on the alternate stack that holds
/// `stack_pointer`, the one that interrupted something elsewhere.
Alternate find_alternate(long memory, std::uint64_t stack_pointer, std::uint64_t until) {
    static std::uint64_t piece[(1U << 11U) + context_words];
    Alternate found;
    for (std::uint64_t at = stack_pointer / 8 * 8; at < until;
         at += sizeof piece - context_words * sizeof piece[0]) {
        const std::uint64_t left = (until - at) / 8 * 8;
        const long got = raw(SYS_pread64, memory, word(piece),
                             static_cast<long>(left < sizeof piece ? left : sizeof piece),
                             static_cast<long>(at));
        if (failed(got))
            break;
        const std::size_t words = static_cast<std::size_t>(got) / sizeof piece[0];
        for (std::size_t index = 0; index + context_words <= words; ++index) {
            const std::uint64_t* context = piece + index;
            const std::uint64_t low = context[stack_start_word];
            const std::uint64_t size = context[stack_size_word];
            const std::uint64_t before = context[stack_pointer_word];
            if ((context[segments_word] & 0xffffU) == user_code_segment &&
                stack_pointer - low < size && size <= until - low && before - low >= size)
                found = {low + size, before};
        }
    }
    return found;
}

/// The same where it waits on another stack than its own: a signal's, or one that the program
/// switched to by itself. A signal would cut its call short, and a time that it waits for would
/// begin anew with each search.
bool note_away(long process, long memory, long thread, std::uint64_t stack_pointer) {
    const Region* region = region_of(stack_pointer);
    const Alternate alternate = find_alternate(memory, stack_pointer, region->high);
    if (alternate.high == 0) {
        modules().search_memory();
        const std::uint64_t known = region->high - stack_pointer;
        return note_stack_of_other(
            memory, stack_pointer,
            stack_pointer + (known < most_unknown_bytes ? known : most_unknown_bytes));
    }
    const std::uint64_t home_high = end_of_home(process, memory, thread, alternate.interrupted);
    return home_high != 0 && note_stack_of_other(memory, stack_pointer, alternate.high) &&
           note_stack_of_other(memory, alternate.interrupted - red_zone_bytes, home_high);
}

}  // namespace

bool note_waiting(long process, long memory, long thread) {
    char before[256];
    char after[256];
    char state[256];
    if (read_about(process, thread, "/schedstat", before, sizeof before) < 0 ||
        read_about(process, thread, "/syscall", state, sizeof state) <= 0)
        return false;
    Waiting waiting{};
    if (!read_waiting(state, waiting) || lends_its_stack(waiting))
        return false;
    const std::uint64_t stack_pointer = waiting.stack_pointer;
    const std::uint64_t high = end_of_home(process, memory, thread, stack_pointer);
    if (high == 0 && !is_away_from_home(process, memory, thread, stack_pointer))
        return false;
    modules().note(waiting.place);
    const bool noted = high == 0 ? note_away(process, memory, thread, stack_pointer)
                                 : note_stack_of_other(memory, stack_pointer, high);
    if (!noted)
        return false;
    read_about(process, thread, "/schedstat", after, sizeof after);
    return same_text(before, after);
}

}  // namespace steelyard::layout
