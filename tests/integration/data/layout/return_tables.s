# As OCaml's compiler lays code out: a table for its collector has where each call returns to.
    .text
    .globl calls_of_ocaml
    .type calls_of_ocaml,@function
calls_of_ocaml:
    subq $8, %rsp
    nopw 0(%rax,%rax)
    call where_it_returns
returns:
    nopw 0(%rax,%rax)
    addq $8, %rsp
    ret
    .size calls_of_ocaml, .-calls_of_ocaml
    .globl calls_by_register
    .type calls_by_register,@function
calls_by_register:
    subq $8, %rsp
    movq where_it_returns@GOTPCREL(%rip), %rax
    call *%rax
returns_from_register:
    nopw 0(%rax,%rax)
    addq $8, %rsp
    ret
    .size calls_by_register, .-calls_by_register
    .section .data.rel.ro,"aw"
    .globl return_table
return_table:
    .quad returns
    .quad returns_from_register
    .section .note.GNU-stack,"",@progbits
