// Where the jumps at the entries of functions lead.

#include <cstddef>

#include "recorded_thread.hpp"

// What the code below says of these.
namespace steelyard {

static_assert(sizeof(Frame) == 16 && offsetof(Frame, entry_stack) == 0 &&
              offsetof(Frame, node) == 8 && offsetof(Frame, kind) == 12);
static_assert(sizeof(TreeNode) == 32 && offsetof(TreeNode, parent) == 0 &&
              offsetof(TreeNode, count) == 16);
static_assert(offsetof(Thread, frames) == 0 && offsetof(Thread, depth) == 8 &&
              offsetof(Thread, at_work_at) == 16 && offsetof(Thread, nodes) == 24 &&
              offsetof(Thread, known) == 64);
static_assert(sizeof(KnownEntry) == 32 && offsetof(KnownEntry, return_address) == 0 &&
              offsetof(KnownEntry, stack_half) == 8 && offsetof(KnownEntry, distance) == 12 &&
              offsetof(KnownEntry, node) == 16 && offsetof(KnownEntry, kind) == 20 &&
              offsetof(KnownEntry, caller) == 24 && offsetof(KnownEntry, function) == 28);
static_assert(KnownEntries::places == 4096);

}  // namespace steelyard

// Keeps every register that a call may change, also those of arguments and those that -fipa-ra
// relies on. An entry that came before from the same call, at the same place of the stack and by
// the same path is noted here, as `note_entry` would, without a search. That the recorder is at
// work is said first: a signal handler must change nothing in between. 0xe7 are the vector
// registers (Intel SDM volume 1, 13.1).
__asm__(R"(
    .text
    .globl steelyard_entry
    .hidden steelyard_entry
    .type steelyard_entry, @function
    .p2align 6
steelyard_entry:
    push %rcx
    push %rdx
    push %rsi
    push %rdi
    push %r8
    mov steelyard_thread@gottpoff(%rip), %rcx
    mov %fs:(%rcx), %rcx
    test %rcx, %rcx
    jz 3f
    cmpq $0, 16(%rcx)
    jne 3f
    mov 56(%rsp), %rdx
    lea 56(%rsp), %rsi
    mov %rsi, 16(%rcx)
    imul $-1640531535, %rdx, %rdi
    lea (%rdi,%rax,8), %rdi
    add %rsi, %rdi
    and $0x7ff8, %edi
    lea 64(%rcx,%rdi,4), %rdi
    cmp %rdx, (%rdi)
    jne 3f
    cmp %esi, 8(%rdi)
    jne 3f
    cmp %eax, 28(%rdi)
    jne 3f
    movslq 12(%rdi), %rdx
    test $1, %dl
    jnz 4f
    add %rsi, %rdx
2:  mov 24(%rdi), %r8d
    cmp %r8, 8(%rcx)
    jbe 3f
    shl $4, %r8
    add (%rcx), %r8
    cmp %rdx, (%r8)
    jne 3f
    mov 20(%rdi), %edx
    cmp %edx, 12(%r8)
    jne 3f
    mov 16(%rdi), %edx
    shl $5, %rdx
    add 24(%rcx), %rdx
    mov 8(%r8), %esi
    cmp %esi, (%rdx)
    jne 3f
    lea 56(%rsp), %rsi
    incq 16(%rdx)
    mov 16(%rdi), %rdx
    mov %rsi, 16(%r8)
    mov %rdx, 24(%r8)
    mov 24(%rdi), %edx
    add $2, %rdx
    mov %rdx, 8(%rcx)
    movq $0, 16(%rcx)
    pop %r8
    pop %rdi
    pop %rsi
    pop %rdx
    pop %rcx
    ret
4:  lea -1(%rbp,%rdx), %rdx
    jmp 2b
3:  push %r9
    push %r10
    push %r11
    push %rax
    mov %eax, %edi
    lea 88(%rsp), %rsi
    mov %rbp, %rdx
    push %rbp
    mov %rsp, %rbp
    and $-16, %rsp
    call steelyard_entered
    mov %rbp, %rsp
    pop %rbp
    test %rax, %rax
    jnz 1f
0:  pop %rax
    pop %r11
    pop %r10
    pop %r9
    pop %r8
    pop %rdi
    pop %rsi
    pop %rdx
    pop %rcx
    ret
1:  mov (%rsp), %edi
    lea 88(%rsp), %rsi
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, %rdx
    mov %rsp, %rbx
    lea -4096(%rax), %rsp
    and $-64, %rsp
    mov %rdx, %r12
    xor %eax, %eax
    mov %rax, 512(%rsp)
    mov %rax, 520(%rsp)
    mov %rax, 528(%rsp)
    mov %rax, 536(%rsp)
    mov %rax, 544(%rsp)
    mov %rax, 552(%rsp)
    mov %rax, 560(%rsp)
    mov %rax, 568(%rsp)
    mov $0xe7, %eax
    xor %edx, %edx
    xsave (%rsp)
    mov %r12, %rdx
    call steelyard_entered_from_afar
    mov $0xe7, %eax
    xor %edx, %edx
    xrstor (%rsp)
    mov %rbx, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    jmp 0b
    .size steelyard_entry, .-steelyard_entry
)");
