// In the place of what leaves marked calls without returning: `longjmp` goes back to the value that
// the thread had at `setjmp`; an exception that passes a marked call puts back what that saved.
// Switching to another stack ends the use of values.

#include <dlfcn.h>
#include <setjmp.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "mark_notes.hpp"

namespace steelyard {

namespace {

/// Where `setjmp` was called for, and the value then. One that another one has taken the place of
/// is not known any more.
struct JumpPlace {
    std::atomic<const void*> buffer;
    std::atomic<std::uint64_t> value;
};

constexpr std::size_t place_count = 1U << 16U;
std::array<JumpPlace, place_count> places;
// Of a thread whose value is not known: no path has it, as it stands.
constexpr std::uint64_t lost_value = 0xdead'beef'dead'beefU;

JumpPlace& place_of(const void* buffer) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
    return places[reinterpret_cast<std::uint64_t>(buffer) * golden >> 48U];
}

void note_place(const void* buffer) {
    JumpPlace& place = place_of(buffer);
    place.buffer = nullptr;
    place.value = carried_value();
    place.buffer = buffer;
}

void go_back(const void* buffer) {
    const JumpPlace& place = place_of(buffer);
    const std::uint64_t value = place.value;
    carry_value(place.buffer == buffer ? value : lost_value);
}

template <typename Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

using Jump = void (*)(void*, int);

[[noreturn]] void jump(const char* name, void* buffer, int value) {
    if (takes_samples())
        go_back(buffer);
    if (const auto real = next<Jump>(name))
        real(buffer, value);
    std::abort();
}

using StackOf = std::uint64_t (*)(void*);

/// A personality routine (Itanium C++ ABI, Exception Handling, 1.6.3). While frames are cleaned up,
/// "the CFA" of a frame is where its stack pointer is behind the call.
int pass(int /*version*/, int actions, std::uint64_t /*kind*/, void* /*exception*/, void* context) {
    constexpr int cleaning = 2, go_on = 8;
    if ((actions & cleaning) == 0)
        return go_on;
    static const auto stack_of = reinterpret_cast<StackOf>(dlsym(RTLD_DEFAULT, "_Unwind_GetCFA"));
    if (stack_of == nullptr)
        carry_value(lost_value);
    else
        carry_value(*reinterpret_cast<const std::uint64_t*>(stack_of(context)));
    return go_on;
}

}  // namespace

void carry_through_exceptions() {
    __asm__ volatile("movq %0, %%fs:%c1" : : "r"(pass), "i"(mark_passing_at));
}

SignalAction next_sigaction() {
    static const auto found = next<SignalAction>("sigaction");
    return found;
}

extern "C" {

/// Gives the function that the caller is led to.
__attribute__((used)) void* steelyard_note_jump(const void* buffer, std::uint64_t which) {
    static const std::array<const char*, 4> names{"setjmp", "_setjmp", "__sigsetjmp",
                                                  "swapcontext"};
    static std::array<std::atomic<void*>, 4> found;
    if (which == names.size() - 1)
        note_stack_switch();
    else if (takes_samples())
        note_place(buffer);
    if (found[which] == nullptr)
        found[which] = dlsym(RTLD_NEXT, names[which]);
    return found[which];
}
}

// Functions that return again find the stack as their caller left it.
__asm__(R"(
    .macro led_through name, number
    .globl \name
    .type \name, @function
\name:
    .cfi_startproc
    push %rdi
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    mov $\number, %esi
    call steelyard_note_jump
    add $8, %rsp
    .cfi_adjust_cfa_offset -8
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdi
    .cfi_adjust_cfa_offset -8
    jmp *%rax
    .cfi_endproc
    .size \name, .-\name
    .endm
    .text
    led_through setjmp, 0
    led_through _setjmp, 1
    led_through __sigsetjmp, 2
    led_through swapcontext, 3
)");

}  // namespace steelyard

#define STEELYARD_VISIBLE extern "C" __attribute__((visibility("default")))

STEELYARD_VISIBLE void steelyard_longjmp(void* buffer, int value) __asm__("longjmp");
STEELYARD_VISIBLE void steelyard_plain_longjmp(void* buffer, int value) __asm__("_longjmp");
STEELYARD_VISIBLE void steelyard_siglongjmp(void* buffer, int value) __asm__("siglongjmp");
STEELYARD_VISIBLE void steelyard_checked_longjmp(void* buffer, int value) __asm__("__longjmp_chk");
STEELYARD_VISIBLE int steelyard_setcontext(const ucontext_t* context) __asm__("setcontext");

void steelyard_longjmp(void* buffer, int value) {
    steelyard::jump("longjmp", buffer, value);
}
void steelyard_plain_longjmp(void* buffer, int value) {
    steelyard::jump("_longjmp", buffer, value);
}
void steelyard_siglongjmp(void* buffer, int value) {
    steelyard::jump("siglongjmp", buffer, value);
}
void steelyard_checked_longjmp(void* buffer, int value) {
    steelyard::jump("__longjmp_chk", buffer, value);
}
int steelyard_setcontext(const ucontext_t* context) {
    steelyard::note_stack_switch();
    return steelyard::next<int (*)(const ucontext_t*)>("setcontext")(context);
}
