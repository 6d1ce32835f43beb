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
    const std::uint64_t high = end_of_home(process, memory, thread, waiting.stack_pointer);
    if (high == 0)
        return false;
    modules().note(waiting.place);
    if (!note_stack_of_other(memory, waiting.stack_pointer, high))
        return false;
    read_about(process, thread, "/schedstat", after, sizeof after);
    return same_text(before, after);
}

}  // namespace steelyard::layout
