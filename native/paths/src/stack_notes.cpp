// Within a program: notes where the stack of each thread begins, once, as the thread does. Loaded
// by LD_PRELOAD; STEELYARD_STACK_NOTES names the file. The functions of a thread have their stack
// where they would have it without: what notes is gone before the first of them begins.

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "stack_note.hpp"

// Where the stack of the first thread began (glibc).
extern "C" void* __libc_stack_end;  // NOLINT

namespace steelyard {

namespace {

constexpr std::size_t longest_path = 4096;
char notes_path[longest_path];

/// System calls alone: the functions for them are places where a thread may be cancelled.
void append(StackNote note) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    constexpr std::uint64_t second_ns = 1'000'000'000;
    note.time_ns = static_cast<std::uint64_t>(now.tv_sec) * second_ns +
                   static_cast<std::uint64_t>(now.tv_nsec);
    note.process = static_cast<std::uint32_t>(syscall(SYS_getpid));
    note.thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
    // Programs close files that they do not know: none stays open.
    const long file =
        syscall(SYS_openat, AT_FDCWD, notes_path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return;
    syscall(SYS_write, file, &note, sizeof note);
    syscall(SYS_close, file);
}

}  // namespace

namespace {

using BeginThread = void (*)();

/// Where the samples of marked calls are loaded too: what a thread does for these as it begins.
BeginThread marks_begin_thread() {
    static const auto found =
        reinterpret_cast<BeginThread>(dlsym(RTLD_DEFAULT, "steelyard_marks_begin_thread"));
    return found;
}

}  // namespace

/// What a thread is to run.
struct Beginning {
    void* (*function)(void*);
    void* argument;
};

extern "C" {

__attribute__((used)) Beginning steelyard_thread_begins(Beginning* given,
                                                        const std::uint64_t* entry,
                                                        std::uint64_t frame_pointer) {
    const int error = errno;
    const Beginning beginning = *given;
    munmap(given, sizeof *given);
    StackNote note;
    note.stack_pointer = reinterpret_cast<std::uint64_t>(entry + 1);
    note.return_address = *entry;
    note.frame_pointer = frame_pointer;
    append(note);
    if (const auto begin_thread = marks_begin_thread())
        begin_thread();
    errno = error;
    return beginning;
}

void* steelyard_thread_start(void* given);
}

// Calls with the stack aligned, and goes on in the thread's function as if that had been called.
__asm__(R"(
    .text
    .globl steelyard_thread_start
    .hidden steelyard_thread_start
    .type steelyard_thread_start, @function
steelyard_thread_start:
    .cfi_startproc
    mov %rsp, %rsi
    mov %rbp, %rdx
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    call steelyard_thread_begins
    add $8, %rsp
    .cfi_adjust_cfa_offset -8
    mov %rdx, %rdi
    jmp *%rax
    .cfi_endproc
    .size steelyard_thread_start, .-steelyard_thread_start
)");

namespace {

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

Create next_create() {
    static const auto found = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    return found;
}

[[gnu::constructor]] void begin() {
    const char* const path = std::getenv("STEELYARD_STACK_NOTES");
    if (path == nullptr || std::strlen(path) >= longest_path)
        return;
    std::memcpy(notes_path, path, std::strlen(path) + 1);
    StackNote note;
    note.stack_pointer = reinterpret_cast<std::uint64_t>(__libc_stack_end);
    append(note);
}

}  // namespace

}  // namespace steelyard

extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) {
    using steelyard::Beginning;
    const auto create = steelyard::next_create();
    if (create == nullptr)
        return EAGAIN;
    void* const memory = steelyard::notes_path[0] == 0
                             ? MAP_FAILED
                             : mmap(nullptr, sizeof(Beginning), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return create(thread, attributes, function, argument);
    auto* const beginning = static_cast<Beginning*>(memory);
    *beginning = {function, argument};
    const int failed = create(thread, attributes, steelyard::steelyard_thread_start, beginning);
    if (failed != 0)
        munmap(memory, sizeof(Beginning));
    return failed;
}
