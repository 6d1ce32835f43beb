"""Generated programs whose functions call each other by pointers of all kinds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

_TYPES = ("long", "int", "char", "double", "struct S2", "struct S3", "const char*")
_VALUES = {
    "long": "7",
    "int": "3",
    "char": "'a'",
    "double": "1.5",
    "struct S2": "(struct S2){1, 2}",
    "struct S3": "(struct S3){1, 2, 3}",
    "const char*": '"x"',
}
_USES = {"struct S2": "{0}.a + {0}.b", "struct S3": "{0}.a + {0}.c", "const char*": "*{0}"}
_HEAD = """
#include <setjmp.h>
#include <stdlib.h>
#define F __attribute__((noinline, noclone))
struct S2 { long a, b; };
struct S3 { long a, b, c; };
volatile long sink;
static long depth;
static int fuel;
"""
# What a body does with the functions of one type: KIND is the number of the type, ANY and OTHER are
# two of its functions, and a call of `x` by pointer is written CALL(x).
_STATEMENTS = (
    "x += CALL(constant_KIND[k & 3]);",
    "x += CALL(changed_KIND[k & 3]);",
    "x += CALL(records_KIND[k & 3].f);",
    "{ P_KIND q = selected_KIND(k); sink++; x += CALL(q); x += CALL(ANY); "
    "if (fuel > 9) x += CALL(q); }",
    "{ P_KIND q = ANY; set_KIND(&q, k); x += CALL(q); }",
    "{ struct H_KIND h = {1, ANY, 2}; fill_KIND(&h, k); x += CALL(h.f) + h.y; }",
    "{ P_KIND q = k & 1 ? ANY : OTHER; x += CALL(q); }",
    "changed_KIND[k & 3] = ANY;",
    "{ P_KIND q = ANY; switch (k % 7) { case 0: q = OTHER; break; case 1: q = changed_KIND[1]; "
    "case 2: x++; break; case 3: q = selected_KIND(k); break; case 4: x += 3; break; "
    "case 5: q = OTHER; default: x += 2; } x += CALL(q); }",
    "{ P_KIND own[4] = {ANY, OTHER, ANY, OTHER}; own[k & 3] = changed_KIND[k & 1]; "
    "for (int z = 0; z < 4; z++) if (fuel > 0) x += CALL(own[z]); }",
    "{ jmp_buf b; P_KIND volatile q = ANY; if (setjmp(b) == 0) { q = OTHER; "
    "if (k & 1) longjmp(b, 1); } x += CALL(q); }",
    "{ P_KIND q = constant_KIND[k & 3]; P_KIND *pp = &q; if (k & 1) pp = &changed_KIND[k & 3]; "
    "x += CALL((*pp)); }",
)
_TAILS = ("changed_KIND[k & 3]", "constant_KIND[k & 3]", "selected_KIND(k)")
_TABLES = """
static P_KIND const constant_KIND[] = {FOUR};
STATIC P_KIND changed_KIND[] = {FOUR};
static const struct { const char *n; P_KIND f; int k; } records_KIND[] = {RECORDS};
F static P_KIND selected_KIND(long k) { P_KIND own[4] = {FOUR}; return own[k & 3]; }
F static void set_KIND(P_KIND *w, long k) { if (k & 1) *w = ANY; sink++; }
struct H_KIND { long x; P_KIND f; long y; };
F static void fill_KIND(struct H_KIND *h, long k) { h->x = k; if (k & 2) h->f = ANY; }
"""


@dataclass
class _Drawn:
    """The types of functions, and the functions of each."""

    draw: random.Random
    types: list[list[str]]
    kinds: list[int]

    def of_kind(self, kind: int) -> str:
        """One of its functions."""
        known = [f"f{at}" for at, each in enumerate(self.kinds) if each == kind]
        return self.draw.choice(known)

    def filled(self, text: str, kind: int, own: Sequence[tuple[str, str]]) -> str:
        """A statement with what its words stand for."""
        while "CALL(" in text:
            start = text.index("CALL(")
            end, open_count = start + len("CALL("), 1
            while open_count:
                open_count += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            called = text[start + len("CALL(") : end - 1]
            text = f"{text[:start]}{called}({self.arguments(kind, own)}){text[end:]}"
        for word in ("ANY", "OTHER"):
            while word in text:
                text = text.replace(word, self.of_kind(kind), 1)
        return text.replace("KIND", str(kind))

    def arguments(self, kind: int, own: Sequence[tuple[str, str]]) -> str:
        """Of a call, some of which the caller was given itself."""
        given = []
        for wanted in self.types[kind]:
            known = [name for of_type, name in own if of_type == wanted]
            handed_on = known and self.draw.random() < 0.7
            given.append(self.draw.choice(known) if handed_on else _VALUES[wanted])
        return ", ".join(given)


def source(seed: int) -> str:
    """A program in C that ends by itself, whatever its functions call."""
    draw = random.Random(seed)
    counts = (0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 9)
    types = [
        [draw.choice(_TYPES) for _ in range(draw.choice(counts))]
        for _ in range(draw.randrange(3, 6))
    ]
    kinds = [draw.randrange(len(types)) for _ in range(draw.randrange(8, 20))]
    drawn, used = _Drawn(draw, types, kinds), sorted(set(kinds))
    lists = [", ".join(one) or "void" for one in types]
    static = [draw.choice(("static ", "")) for _ in kinds]
    lines = [_HEAD, *(f"typedef long (*P_{at})({one});" for at, one in enumerate(lists))]
    lines += [f"F {static[at]}long f{at}({lists[kind]});" for at, kind in enumerate(kinds)]
    for kind in used:
        text = _TABLES.replace("STATIC", draw.choice(("static", "")))
        while "FOUR" in text:
            text = text.replace("FOUR", ", ".join(["ANY"] * 4), 1)
        text = text.replace("RECORDS", ", ".join(['{"n", ANY, 1}'] * 4))
        lines.append(drawn.filled(text, kind, ()))
    lines += [_body(drawn, at, static[at], used) for at in range(len(kinds))]
    calls = " ".join(f"sink += f{at}({drawn.arguments(kinds[at], ())});" for at in range(4))
    lines.append(
        f"int main(void) {{ for (int z = 0; z < 6; z++) {{ fuel = 60; depth = 0; {calls} }} }}"
    )
    return "\n".join(lines)


def _body(drawn: _Drawn, at: int, static: str, used: Sequence[int]) -> str:
    draw = drawn.draw
    own = [(one, f"p{place}") for place, one in enumerate(drawn.types[drawn.kinds[at]])]
    given = ", ".join(f"{one} {name}" for one, name in own) or "void"
    lines = [
        f"F {static}long f{at}({given}) {{ long k = sink++; long x = 0;",
        "if (--fuel < 0 || depth > 6) return k; depth++;",
    ]
    read = [pair for pair in own if draw.random() < 0.5]
    lines += [f"x += {_USES.get(one, '(long){0}').format(name)};" for one, name in read]
    for _ in range(draw.randrange(1, 4)):
        guard = draw.choice(("", "if ((k + 1) & 1) "))
        lines.append(guard + drawn.filled(draw.choice(_STATEMENTS), draw.choice(used), own))
    tail = "x"
    if draw.random() < 0.4:
        tail = drawn.filled(f"CALL({draw.choice(_TAILS)})", draw.choice(used), own)
    return " ".join([*lines, f"depth--; return {tail}; }}"])
