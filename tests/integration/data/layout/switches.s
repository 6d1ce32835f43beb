# Leaves one stack, whose pointer it keeps where %rdi leads to, for that which %rsi leads to.
    .text
    .globl change_over
    .type change_over,@function
change_over:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq (%rsi), %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size change_over,.-change_over
    .section .note.GNU-stack,"",@progbits
