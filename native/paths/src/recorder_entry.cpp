// Where the jumps at the entries of functions lead.

// Keeps every register that a call may change, also those of arguments and those that -fipa-ra
// relies on. 0xe7 are the vector registers (Intel SDM volume 1, 13.1).
__asm__(R"(
    .text
    .globl steelyard_entry
    .hidden steelyard_entry
    .type steelyard_entry, @function
steelyard_entry:
    push %rcx
    push %rdx
    push %rsi
    push %rdi
    push %r8
    push %r9
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
