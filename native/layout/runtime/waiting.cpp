#include "waiting.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "memory_map.hpp"
#include "modules.hpp"
#include "raw.hpp"

namespace steelyard::layout {

namespace {

constexpr std::size_t known_threads = 4096;
constexpr int most_strange_stacks = 3;

/// Where a thread's stack was seen first.
struct KnownThread {
    std::int32_t id;
    std::int32_t strange;
    std::uint64_t stack_pointer;
};

KnownThread* known = nullptr;

void append(char*& place, const char* text) {
    while (*text != '\0')
        *place++ = *text++;
    *place = '\0';
}

void append(char*& place, std::uint64_t value) {
    char digits[20];
    int count = 0;
    do {
        digits[count++] = static_cast<char>('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (count != 0)
        *place++ = digits[--count];
    *place = '\0';
}

long read_about(long thread, const char* what, char* buffer, std::size_t size) {
    char path[64];
    char* end = path;
    append(end, "/proc/self/task/");
    append(end, static_cast<std::uint64_t>(thread));
    append(end, what);
    const long count = read_file(path, buffer, size - 1);
    buffer[count < 0 ? 0 : count] = '\0';
    return count;
}

/// Whether a thread that is seen on another stack than before makes this round worthless.
bool is_on_strange_stack(long thread, std::uint64_t stack_pointer) {
    KnownThread& entry = known[static_cast<std::size_t>(thread) % known_threads];
    const Region* region = region_of(stack_pointer);
    const bool is_new = entry.id != thread;
    const bool moved = !is_new && region != nullptr &&
                       (entry.stack_pointer < region->low || entry.stack_pointer >= region->high);
    const int strange = (is_new ? 0 : entry.strange) + (moved ? 1 : 0);
    entry = {static_cast<std::int32_t>(thread), strange, stack_pointer};
    if (strange >= most_strange_stacks)
        modules().keep_copies();
    return moved;
}

/// Notes what lies on the stack of a thread that waits, by way of the file `memory`: should it go
/// on meanwhile and end, its stack is gone, and reading that itself would end the program. False
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

void prepare_waiting() {
    known = static_cast<KnownThread*>(
        map_pages(nullptr, known_threads * sizeof(KnownThread), PROT_READ | PROT_WRITE));
    if (known == nullptr)
        fail("there is no memory for the threads' stacks");
}

Seen note_waiting(long memory, long thread) {
    char before[256];
    char after[256];
    char state[256];
    if (read_about(thread, "/schedstat", before, sizeof before) < 0)
        return Seen::runs;
    if (read_about(thread, "/syscall", state, sizeof state) <= 0)
        return Seen::runs;
    if (state[0] == 'r')
        return Seen::runs;
    std::uint64_t stack_pointer = 0;
    std::uint64_t place = 0;
    for (const char* text = state; *text != '\0';) {
        if (text[0] == '0' && text[1] == 'x') {
            stack_pointer = place;
            place = hexadecimal(text);
        } else {
            ++text;
        }
    }
    if (stack_pointer == 0)
        return Seen::runs;
    if (is_on_strange_stack(thread, stack_pointer))
        return Seen::incomplete;
    const std::uint64_t high = stack_end(stack_pointer, 0);
    if (high == 0)
        return Seen::incomplete;
    modules().note(place);
    if (!note_stack_of_other(memory, stack_pointer, high))
        return Seen::runs;
    read_about(thread, "/schedstat", after, sizeof after);
    return same_text(before, after) ? Seen::noted : Seen::runs;
}

bool is_ending(long thread) {
    char state[512];
    if (read_about(thread, "/stat", state, sizeof state) <= 0)
        return true;
    const char* end = state;
    for (const char* at = state; *at != '\0'; ++at)
        end = *at == ')' ? at : end;
    return end[0] == ')' && (end[2] == 'Z' || end[2] == 'X');
}

}  // namespace steelyard::layout
