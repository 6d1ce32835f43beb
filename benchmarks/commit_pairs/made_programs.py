"""Five small programs, and edits of them whose effect on the time is known beforehand.

Each program has a hot loop (`work`) that reads a table (`table`) and calls a function (`step`),
memory from an allocator (`take`), an assertion, and a function that a run never reaches (`rescue`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_HEAD = """
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/*COMMENT*/
"""
_TABLE = "static const unsigned table[64] = {7, 1, 9, 4, 8, 2, 6, 3, 5, 11, 23, 31, 47};"
_TAKE = """
__attribute__((noinline)) void *take(size_t count) { return calloc(count, 8); }
"""
_RESCUE = """
__attribute__((noinline)) void rescue(int n) {
    for (int i = 0; i < n; i++) printf("rescue %d of %d\\n", i, n);
}
"""
_MAIN = """
int main(int argc, char **argv) {
    unsigned long total = 0;
    assert(argc < 50);
    if (argc > 40) rescue(argc);
    for (int round = 0; round < ROUNDS; round++) total += work(300 + (unsigned)(argc & 1));
    printf("%lu %s\\n", total, argc > 30 ? STAMP : "");
    return argv[0] == NULL;
}
"""
# Each has what is called in its hot loop, and the loop.
_STEPS = {
    "checksum": """
INLINING unsigned long step(unsigned long a, unsigned b) { return (a << 5) ^ (a >> 3) ^ b; }
""",
    "matrix": """
INLINING double step(double a, double b) { return a * b + 0.5; }
""",
    "search": """
INLINING unsigned long step(const char *text, unsigned at) { return text[at] == 'q' ? at : 1; }
""",
    "sort": """
INLINING void step(unsigned long *a, unsigned long *b) {
    if (*a > *b) { unsigned long kept = *a; *a = *b; *b = kept; }
}
""",
    "buckets": """
INLINING unsigned long step(unsigned long key) { return key * 2654435761u >> 7; }
""",
}
_WORKS = {
    "checksum": """
__attribute__((noinline)) unsigned long work(unsigned n) {
    unsigned *data = take(n);
    unsigned long sum = 17;
    for (unsigned i = 0; i < n; i++) data[i] = table[i & 63] * i + CONSTANT;
    for (unsigned i = 0; i < n; i++) sum = step(sum, data[i]);
    free(data);
    return sum;
}
""",
    "matrix": """
__attribute__((noinline)) unsigned long work(unsigned n) {
    double *rows = take(n), sum = 1;
    for (unsigned i = 0; i < n; i++) rows[i] = table[i & 63] * CONSTANT;
    for (unsigned i = 0; i < n; i++) sum = step(sum / 2, rows[i]);
    free(rows);
    return (unsigned long)sum;
}
""",
    "search": """
__attribute__((noinline)) unsigned long work(unsigned n) {
    char *text = take(n);
    unsigned long found = 0;
    for (unsigned i = 0; i < n; i++) text[i] = (char)('a' + table[i & 63] % CONSTANT);
    for (unsigned i = 0; i < n; i++) found += step(text, i);
    free(text);
    return found;
}
""",
    "sort": """
__attribute__((noinline)) unsigned long work(unsigned n) {
    unsigned long *keys = take(n), low;
    for (unsigned i = 0; i < n; i++) keys[i] = table[i & 63] ^ (i * CONSTANT);
    for (unsigned gap = 1; gap < 9; gap++)
        for (unsigned i = gap; i < n; i++) step(&keys[i - gap], &keys[i]);
    low = keys[0];
    free(keys);
    return low;
}
""",
    "buckets": """
__attribute__((noinline)) unsigned long work(unsigned n) {
    unsigned long *counts = take(512), most = 0;
    for (unsigned i = 0; i < n; i++) counts[step(i + table[i & 63] + CONSTANT) & 511]++;
    for (unsigned i = 0; i < 512; i++) most = counts[i] > most ? counts[i] : most;
    free(counts);
    return most;
}
""",
}
# What a step does instead.
_SLOWER_STEPS = {
    "checksum": ("(a << 5) ^ (a >> 3)", "(a << 5) ^ (a % 1021)"),
    "matrix": ("a * b + 0.5", "a * b / (b + 0.5)"),
    "search": ("? at : 1", "? at * 3 : text[at / 3]"),
    "sort": ("*a > *b", "*a % 977 > *b % 977"),
    "buckets": ("key * 2654435761u >> 7", "key * 2654435761u % 1048573"),
}
PROGRAMS = tuple(_WORKS)
FUNCTIONS = ("step", "work", "take", "rescue")


@dataclass(frozen=True)
class Edit:
    """A change of a program.

    Parameters
    ----------
    kind : str
    changes : bool
        Whether the time can change.
    function : str
        The one to be named first where it does; empty: any.
    replaced : mapping of str to str
        Words of the source.
    flags : sequence of str
        Of the compiler, after the usual ones.
    order : sequence of int
        Of the four functions in the source.
    strip : bool
        Strip the program of names.
    """

    kind: str
    changes: bool
    function: str = ""
    replaced: Mapping[str, str] = field(default_factory=dict[str, str])
    flags: Sequence[str] = ()
    order: Sequence[int] = (0, 1, 2, 3)
    strip: bool = False


def edits(program: str) -> list[Edit]:
    """One edit of each kind of a program."""
    step = _STEPS[program]
    other_step = step.replace(*_SLOWER_STEPS[program])
    other_take = _TAKE.replace(
        "return calloc(count, 8);", "return memset(aligned_alloc(64, count * 64), 0, count * 8);"
    )
    cold = _RESCUE.replace("rescue %d of %d", "rescued %d, %d, %d").replace("i, n)", "i, n, 7 * n)")
    renamed = {name: f"renamed_{name}" for name in FUNCTIONS}
    return [
        Edit("comment", False, replaced={"/*COMMENT*/": "/* another comment, no line more */"}),
        Edit("line", False, replaced={"/*COMMENT*/": "/* two\n * more\n * lines */"}),
        Edit("date", False, replaced={"STAMP": '"2031-12-24 built"'}),
        Edit("reordered", False, order=(3, 2, 1, 0)),
        Edit("padded", False, flags=("-falign-functions=128",)),
        Edit("stripped", False, strip=True),
        Edit("renamed", False, replaced=renamed),
        Edit("cold function", False, replaced={_RESCUE: cold}),
        Edit("constant", True, "work", replaced={"CONSTANT": "29"}),
        Edit("data table", True, "work", replaced={"23, 31, 47": "23, 37, 47"}),
        Edit("hot callee", True, "step", replaced={step: other_step}),
        Edit(
            "inlining",
            True,
            replaced={"INLINING": "static inline __attribute__((always_inline))"},
        ),
        Edit("optimised", True, flags=("-O3", "-funroll-loops")),
        Edit("allocator", True, "take", replaced={_TAKE: other_take}),
    ]


def source_of(program: str, edit: Edit | None = None) -> str:
    """The text of a program, edited."""
    order = (0, 1, 2, 3) if edit is None else edit.order
    functions = (_STEPS[program], _WORKS[program], _TAKE, _RESCUE)
    # Declared first, so that any order of definitions compiles.
    declared = [one.strip().partition("{")[0].strip() + ";" for one in functions]
    text = "\n".join([_HEAD, _TABLE, *declared, *(functions[place] for place in order), _MAIN])
    defaults = {
        "CONSTANT": "13",
        "ROUNDS": "40",
        "STAMP": '"2026-01-02 built"',
        "INLINING": "__attribute__((noinline))",
    }
    replaced = {} if edit is None else dict(edit.replaced)
    usual = {word: value for word, value in defaults.items() if word not in replaced}
    # Edits come first: the words that they put in stay.
    for old, new in {**replaced, **usual}.items():
        text = _renamed(text, old, new) if old in FUNCTIONS else text.replace(old, new)
    return text


def _renamed(text: str, old: str, new: str) -> str:
    import re

    return re.sub(rf"\b{old}\b(?=\()", new, text)
