/// The system calls of the program: those that are to go on after a signal of the runtime, and
/// those that put a filter before others.
#include "system_calls.hpp"

#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>

#include "mover.hpp"
#include "raw.hpp"

namespace steelyard::layout {

extern "C" const std::uint8_t steelyard_layout_after_call[];

namespace {

std::uint32_t is_filtered_now = 0;

/// As the functions of libc give it.
long result_of(long result) {
    if (!failed(result))
        return result;
    errno = static_cast<int>(-result);
    return -1;
}

constexpr int number_register = 15;

/// Whether a signal of the program's waits to be handled: it may have cut the call short as well.
bool has_pending_signal(const ucontext_t& interrupted) {
    std::uint64_t pending = 0;
    std::uint64_t blocked = 0;
    __builtin_memcpy(&blocked, &interrupted.uc_sigmask, sizeof blocked);
    raw(SYS_rt_sigpending, word(&pending), sizeof pending);
    return (pending & ~blocked) != 0;
}

}  // namespace

void restart_interrupted_call(ucontext_t& interrupted) {
    greg_t* registers = interrupted.uc_mcontext.gregs;
    const auto* next = reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);
    if (registers[REG_RAX] != -EINTR || next[-2] != 0x0f || next[-1] != 0x05)
        return;
    std::int32_t number = 0;
    if (next == steelyard_layout_after_call)
        __builtin_memcpy(&number, &interrupted.uc_mcontext.fpregs->_xmm[number_register],
                         sizeof number);
    else if (next[-7] == 0xb8)  // movl $number, %eax
        __builtin_memcpy(&number, next - 6, sizeof number);
    else
        return;
    if (has_pending_signal(interrupted))
        return;
    registers[REG_RAX] = number;
    registers[REG_RIP] -= 2;
}

bool calls_are_filtered() {
    return __atomic_load_n(&is_filtered_now, __ATOMIC_RELAXED) != 0;
}

void note_filter() {
    __atomic_store_n(&is_filtered_now, 1, __ATOMIC_RELAXED);
}

// As glibc's, but that the number can be found again: in a register that the kernel keeps, and in
// no memory, as a child may come back from this on another stack.
asm(R"(
.pushsection steelyard_text,"ax",@progbits
.globl syscall
.type syscall,@function
syscall:
    .cfi_startproc
    cmpl $317, %edi  # seccomp
    je steelyard_layout_put_filter
    cmpl $59, %edi  # execve
    je steelyard_layout_execute
    cmpl $322, %edi  # execveat
    je steelyard_layout_execute
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsi
    movq %rcx, %rdx
    movq %r8, %r10
    movq %r9, %r8
    movq 8(%rsp), %r9
    movq %rax, %xmm15
    syscall
.globl steelyard_layout_after_call
.hidden steelyard_layout_after_call
steelyard_layout_after_call:
    cmpq $-4095, %rax
    jae 2f
    ret
2:  pushq %rax
    .cfi_adjust_cfa_offset 8
    call __errno_location@PLT
    popq %rcx
    .cfi_adjust_cfa_offset -8
    negl %ecx
    movl %ecx, (%rax)
    movq $-1, %rax
    ret
    .cfi_endproc
.size syscall, .-syscall
.popsection
)");

/// A filter may forbid what ends a signal's handler, so no thread may be in one, and none is sent
/// another from then on. NOLINTNEXTLINE(readability-function-size)
extern "C" __attribute__((visibility("hidden"), section("steelyard_text"), used)) long
steelyard_layout_put_filter(long number, long a, long b, long c, long d) {
    const bool is_query = a != SECCOMP_SET_MODE_STRICT && a != SECCOMP_SET_MODE_FILTER;
    hold_moves();
    const long result = raw(number, a, b, c, d);
    if (!is_query && !failed(result))
        note_filter();
    resume_moves_in_silence();
    return result_of(result);
}

/// See execute.cpp. NOLINTNEXTLINE(readability-function-size)
extern "C" __attribute__((visibility("hidden"), section("steelyard_text"), used)) long
steelyard_layout_execute(long number, long a, long b, long c, long d, long e) {
    const bool holds = hold_moves_of_program();
    const long result = raw(number, a, b, c, d, e);
    if (holds)
        resume_moves();
    return result_of(result);
}

/// libc declares it with any arguments. NOLINTNEXTLINE(readability-function-size)
extern "C" int steelyard_prctl(int option, long a, long b, long c, long d) __asm__("prctl");
// NOLINTNEXTLINE(readability-function-size)
extern "C" __attribute__((visibility("default"), section("steelyard_text"), used)) int
steelyard_prctl(int option, long a, long b, long c, long d) {
    if (option != PR_SET_SECCOMP)
        return static_cast<int>(result_of(raw(SYS_prctl, option, a, b, c, d)));
    hold_moves();
    const long result = raw(SYS_prctl, option, a, b, c, d);
    if (!failed(result))
        note_filter();
    resume_moves_in_silence();
    return static_cast<int>(result_of(result));
}

}  // namespace steelyard::layout
