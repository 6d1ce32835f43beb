#include "stack.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>

#include "pages.hpp"
#include "raw.hpp"
#include "settings.hpp"

extern "C" void* __libc_stack_end;

namespace steelyard::layout {

namespace {

// Frames are padded as long as about this much of a stack is not used; stacks are made larger by
// it, so whatever fitted without pads fits with them.
constexpr std::uint64_t padded_bytes = 4U << 20U;
// Not every call looks how deep the stack is: what those in between may add.
constexpr std::uint64_t unseen_bytes = 512U << 10U;
// The kernel keeps so much free below a stack that grows.
constexpr std::uint64_t guard_bytes = 2U << 20U;
// Distinguishes a limit from the zero of a thread that was given none.
constexpr std::uint64_t limit_mark = 1ULL << 63U;

/// What calls in this thread compare the stack pointer with: `__private_ss` of glibc's thread
/// control block, meant for the limit of split stacks, zero in every thread, and at a distance from
/// the thread pointer that is the same in all kinds of code. The difference is negative where there
/// is a limit and the stack pointer is above it, so a thread that was started past us has no pads.
void set_limit(std::uint64_t limit) {
    asm volatile("movq %0, %%fs:112" : : "r"(limit | limit_mark) : "memory");
}

/// Touches a page of the stack below the stack pointer, which kernels before 5.0 look at.
void grow_stack_to(std::uint64_t address) {
    std::uint64_t before = 0;
    asm volatile("movq %%rsp, %0; movq %1, %%rsp; orq $0, (%%rsp); movq %0, %%rsp"
                 : "=&r"(before)
                 : "r"(address)
                 : "memory", "cc");
}

/// Where the main thread's stack ends: the kernel puts the name of the program's file there, and a
/// null pointer behind it.
std::uint64_t end_of_main_stack() {
    const std::uint64_t name = getauxval(AT_EXECFN);
    const std::size_t bytes = length(reinterpret_cast<const char*>(name)) + 1 + sizeof(void*);
    return in_pages(name + bytes) * page_bytes;
}

/// The main thread's stack grows up to the limit that holds when it does. Once it has grown it
/// stays so, and the limit can be again what the program and its children are to see.
bool enlarge_main_stack() {
    rlimit limit{};
    if (getrlimit(RLIMIT_STACK, &limit) != 0)
        return false;
    if (limit.rlim_cur == RLIM_INFINITY)
        return true;
    const rlimit larger{limit.rlim_cur + padded_bytes, limit.rlim_max};
    if (limit.rlim_max != RLIM_INFINITY && larger.rlim_cur > limit.rlim_max)
        return false;
    const std::uint64_t low = page_of(end_of_main_stack() - larger.rlim_cur) + page_bytes;
    constexpr std::uint64_t more_bytes = guard_bytes + padded_bytes - page_bytes;
    void* const free = map_pages_at_free(bytes_at(low - guard_bytes), more_bytes, PROT_NONE);
    if (free == nullptr)
        return false;
    raw(SYS_munmap, word(free), more_bytes);
    if (setrlimit(RLIMIT_STACK, &larger) != 0)
        return false;
    grow_stack_to(low);
    return setrlimit(RLIMIT_STACK, &limit) == 0;
}

struct Beginning {
    void* (*routine)(void*);
    void* argument;
    bool is_padded;
};

void* begin_thread(void* given) {
    const Beginning beginning = *static_cast<Beginning*>(given);
    free(given);
    const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    if (beginning.is_padded)
        set_limit(here - padded_bytes + unseen_bytes);
    return beginning.routine(beginning.argument);
}

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

/// Attributes like those given, with a larger stack; false where the stack is the program's own.
bool enlarge(const pthread_attr_t* given, pthread_attr_t& larger) {
    std::size_t size = 0;
    if (given == nullptr) {
        if (pthread_getattr_default_np(&larger) != 0)
            return false;
    } else {
        void* place = nullptr;
        std::size_t unused = 0;
        // Where none was set, glibc gives the null pointer less the size.
        if (pthread_attr_getstack(given, &place, &unused) == 0 &&
            reinterpret_cast<std::uint64_t>(place) + unused != 0)
            return false;
        larger = *given;
    }
    return pthread_attr_getstacksize(&larger, &size) == 0 &&
           pthread_attr_setstacksize(&larger, size + padded_bytes) == 0;
}

}  // namespace

void start_stack() {
    const auto top = reinterpret_cast<std::uint64_t>(__libc_stack_end);
    const std::uint64_t padded = enlarge_main_stack() ? padded_bytes : padded_bytes / 4;
    set_limit(top - padded + unseen_bytes);
}

extern "C" __attribute__((visibility("default"), section("steelyard_text"), used)) int
pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
               void* argument) {
    static const auto next = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    if (!settings().has(part_stack))
        return next(thread, attributes, routine, argument);
    auto* beginning = static_cast<Beginning*>(malloc(sizeof(Beginning)));
    if (beginning == nullptr)
        return EAGAIN;
    pthread_attr_t larger;
    const bool is_padded = enlarge(attributes, larger);
    *beginning = {routine, argument, is_padded};
    const int failure = next(thread, is_padded ? &larger : attributes, begin_thread, beginning);
    if (failure != 0)
        free(beginning);
    return failure;
}

}  // namespace steelyard::layout
