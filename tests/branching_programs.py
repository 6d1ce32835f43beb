"""Programs that take other call paths with another input, from a seed, and print their own paths.

Each function calls `step`, and that `show`, which prints where its frame is, what its thread
carries, how many of the calls were by a pointer, and the functions that led to it. The program
notes all that itself: nothing is unwound.
"""

from __future__ import annotations

import random

HEAD = r"""
#include <stdio.h>
#include <stdlib.h>
#ifdef __cplusplus
#define FUNCTION extern "C" __attribute__((noinline))
#else
#define FUNCTION __attribute__((noinline))
#endif
typedef void Called(int);
static const char* names[64];
static int depth, printed, pointed;
static unsigned seed;
static volatile int sink;
static int taken(unsigned site) {
    unsigned mixed = (seed * 2654435761u) ^ (site * 2246822519u);
    mixed ^= mixed >> 15;
    mixed *= 3266489917u;
    return (mixed >> 13) % 3 != 0;
}
FUNCTION void show(const char* name) {
    unsigned long value;
    int at;
    __asm__ volatile("mov %%fs:0x80, %0" : "=r"(value));
    names[depth++] = name;
    if (printed++ > 4000) return;
    printf("%lx %lx %d ", (unsigned long)__builtin_dwarf_cfa(), value, pointed);
    for (at = 0; at < depth; ++at) printf("%s>", names[at]);
    printf("step>show\n");
}
FUNCTION void step(const char* name) { show(name); sink += 1; }
static __attribute__((always_inline)) inline void leave(void) { --depth; sink += 1; }
"""
MAIN = """
int main(int count, char** words) {
    seed = count > 1 ? (unsigned)atoi(words[1]) : 0;
    step("main");
    f0(5);
    f1(4);
    leave();
    return 0;
}
"""


def source(seed: int, varies: bool = False) -> str:
    """C, and C++, of functions that call each other, by a pointer too.

    Which calls are taken is said by the first word of the command. `varies`: some functions have
    frames that the input says the size of.
    """
    draw = random.Random(seed)
    count = draw.randint(6, 12)
    parts = [HEAD, *(f"FUNCTION void f{one}(int n);\n" for one in range(count))]
    pointed = ", ".join(f"f{draw.randrange(count)}" for _ in range(3))
    parts.append(f"static Called* volatile table[] = {{{pointed}}};\n")
    site = 0
    for one in range(count):
        room = draw.choice((0, 0, 16, 40, 40, 72))
        body = [f"volatile char room[{room}]; room[0] = 1; sink += room[0];"] if room else []
        if varies and draw.random() < 0.3:
            kind = draw.choice(("char more[{}]", "char* more = (char*)__builtin_alloca({})"))
            size = f"16 + 16 * ((seed + n * {draw.randint(1, 5)}u) % 40)"
            text = kind.format(size)
            body.append(f"volatile {text}; more[0] = 2; sink += more[0];")
        body.append(f'step("f{one}");')
        for _ in range(draw.randint(1, 3)):
            site += 1
            call = f"f{draw.randrange(count)}(n - 1);"
            if draw.random() < 0.1:
                call = f"{{ ++pointed; table[{draw.randrange(3)}](n - 1); --pointed; }}"
            body.append(f"if (n > 0 && taken({site})) {call}")
        body.append("leave();")
        inner = "\n    ".join(body)
        parts.append(f"FUNCTION void f{one}(int n) {{\n    {inner}\n}}\n")
    return "".join(parts) + MAIN
