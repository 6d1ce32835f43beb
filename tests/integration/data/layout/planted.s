# Functions as hand-written assembly has them; planted.c calls them. One moves, the others cannot.
.text
.globl moves, has_no_size, is_not_marked, is_entered_inside, enters, has_data
.type moves, @function
moves:
    leal 1(%rdi), %eax
    testl %eax, %eax
    js 1f
    addl $2, %eax
1:  ret
.size moves, .-moves

.type has_no_size, @function
has_no_size:
    movl $7, %eax
    ret

is_not_marked:
    movl $9, %eax
    ret

.type is_entered_inside, @function
is_entered_inside:
    movl %edi, %eax
    leal 1(%rax), %eax
    ret
.size is_entered_inside, .-is_entered_inside

.type enters, @function
enters:
    jmp is_entered_inside+2
.size enters, .-enters

.type has_data, @function
has_data:
    leaq 1f(%rip), %rax
    movzbl (%rax,%rdi), %eax
    ret
1:  .byte 1, 2, 3, 4, 0x06, 0x0e
.size has_data, .-has_data

.section .note.GNU-stack,"",@progbits
