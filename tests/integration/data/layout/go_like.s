# As Go's linker lays out what it makes for C: all of Go's code between two symbols, and a table of
# where each function was linked.
    .text
    .type runtime.text,@object
runtime.text:
    .globl one_of_go
    .type one_of_go,@function
one_of_go:
    movl $1, %eax
    nop
    ret
    .size one_of_go, .-one_of_go
    .type runtime.etext,@object
runtime.etext:
    nop
    .globl one_of_c
    .type one_of_c,@function
one_of_c:
    movl $1, %eax
    nop
    ret
    .size one_of_c, .-one_of_c
    .section .rodata
    .type runtime.pclntab,@object
runtime.pclntab:
    .quad 0
    .section .note.GNU-stack,"",@progbits
