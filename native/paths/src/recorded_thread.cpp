#include "recorded_thread.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace steelyard {

Program program;
__thread Thread* thread;
__thread bool has_ended;

namespace {

constexpr int private_memory = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

char* put_number(char* to, std::uint64_t number) {
    char digits[24];
    int count = 0;
    do
        digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

/// FOLDER/PROCESS-NUMBER
void new_path(char* to, std::uint32_t process) {
    to = put_text(put_text(to, program.folder), "/");
    to = put_number(to, process);
    *to++ = '-';
    to = put_number(to, program.files.fetch_add(1));
    *to = 0;
}

}  // namespace

char* put_text(char* to, const char* text) {
    while (*text != 0)
        *to++ = *text++;
    return to;
}

Thread* new_thread() {
    constexpr std::size_t frames_bytes = most_frames * sizeof(Frame);
    constexpr std::size_t bytes = own_stack_bytes + sizeof(Thread);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, private_memory, -1, 0);
    if (memory == MAP_FAILED)
        return nullptr;
    auto* const made = reinterpret_cast<Thread*>(static_cast<std::byte*>(memory) + own_stack_bytes);
    made->own_stack = static_cast<std::byte*>(memory) + own_stack_bytes;
    void* const frames = mmap(nullptr, frames_bytes, PROT_READ | PROT_WRITE, private_memory, -1, 0);
    char path[longest_path + 64];
    const auto process = static_cast<std::uint32_t>(syscall(SYS_getpid));
    new_path(path, process);
    if (frames == MAP_FAILED ||
        !made->tree.open(path, process, static_cast<std::uint32_t>(syscall(SYS_gettid))))
        return nullptr;
    made->frames = static_cast<Frame*>(frames);
    made->nodes = made->tree.nodes();
    made->is_ordered = true;
    return made;
}

void end_thread(void* ended) {
    auto* const own = static_cast<Thread*>(ended);
    has_ended = true;
    thread = nullptr;
    own->tree.close();
    munmap(own->frames, most_frames * sizeof(Frame));
    munmap(own->own_stack - own_stack_bytes, own_stack_bytes + sizeof(Thread));
}

void after_fork() {
    program.walking = false;
    if (thread == nullptr)
        return;
    char path[longest_path + 64];
    const auto process = static_cast<std::uint32_t>(syscall(SYS_getpid));
    new_path(path, process);
    if (!thread->tree.reopen(path, process, process)) {
        thread = nullptr;
        return;
    }
    thread->nodes = thread->tree.nodes();
}

}  // namespace steelyard
