"""Programs whose functions align their stack, and which print the truth of each path they take."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.analysis.paths.lookup import KeyedPaths
from steelyard.analysis.paths.path_map import ROOT
from steelyard.analysis.paths.path_marks import ANY_MARK
from steelyard.profile.paths.crash_key import whole_functions
from steelyard.profile.paths.map_file import read_map

# The first function of its second thread.
THREAD = "begin"
HEAD = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define FUNCTION __attribute__((noinline, noclone)) static
extern void* __libc_stack_end;
extern char __executable_start;
static __thread char* base;
static __thread const char* taken[64];
static __thread int depth;
volatile int sink;
static void use(volatile char* room, unsigned long bytes) {
    room[0] = 1; room[bytes - 1] = 2; sink += room[0];
}
#define ENTER(name) taken[depth++] = name
#define LEAVE() __asm__ volatile("" ::: "memory"); depth--; sink++
static void say(void* function, void* cfa) {
    char line[4096] = "";
    for (int k = 0; k < depth; k++) { if (k) strcat(line, ">"); strcat(line, taken[k]); }
    printf("%ld %ld %ld %s\n", (char*)function - &__executable_start, base - (char*)cfa,
           (long)base, line);
}
"""


@dataclass(frozen=True)
class Truth:
    """A path as a program took it: what its key is made of, and the functions, outermost first.

    In a thread the height is from the frame of its first function, which is at `start`."""

    function: int
    height_bytes: int
    start: int
    functions: tuple[str, ...]


def aligned_source(seed: int, function_count: int = 14) -> str:
    """A program in C: functions that call later ones, some of which align their stack to 32 or 64
    bytes, main among them for odd seeds. Each says its path as it is entered."""
    chance = random.Random(seed)
    parts = [HEAD]
    names = [f"f{number}" for number in range(function_count)]
    parts += [f"FUNCTION void {name}(int n);" for name in names]
    for number, name in enumerate(names):
        size = chance.choice((0, 0, 32, 64))
        aligned = f"__attribute__((aligned({size})))" if size else ""
        room = chance.randrange(16, 600)
        later = names[number + 1 :]
        callees = chance.sample(later, min(len(later), chance.choice((1, 2, 3))))
        calls = " ".join(f"if (n > 0) {one}(n - 1);" for one in callees)
        parts.append(
            f"FUNCTION void {name}(int n) {{ {aligned} volatile char room[{room}]; "
            f'ENTER("{name}"); use(room, sizeof room); '
            f"say((void*){name}, __builtin_dwarf_cfa()); {calls} "
            f"use(room, sizeof room); LEAVE(); }}"
        )
    main_room = "__attribute__((aligned(64)))" if seed % 2 else ""
    parts.append(
        "FUNCTION void* begin(void* unused) { base = (char*)__builtin_dwarf_cfa(); "
        f'{main_room} volatile char room[64]; (void)unused; ENTER("begin"); '
        "use(room, 64); f0(5); f1(5); use(room, 64); LEAVE(); return NULL; }"
    )
    parts.append(
        "int main(void) { pthread_t other; base = (char*)__libc_stack_end; "
        f'{main_room} volatile char room[96]; ENTER("main"); use(room, 96); '
        "f0(6); f1(6); f2(6); pthread_create(&other, NULL, begin, NULL); "
        "pthread_join(other, NULL); use(room, 96); LEAVE(); return 0; }"
    )
    return "\n".join(parts)


def built_aligned(folder: Path, name: str, source: str, words: Sequence[str]) -> str:
    """Compile a program with a compiler and its options."""
    (folder / f"{name}.c").write_text(source)
    command = [*words, f"{name}.c", "-o", name, "-pthread", "-pie", "-fPIE"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return str(folder / name)


def truths(program: str, padding: int, is_random: bool) -> list[Truth]:
    """What a run prints in an environment that is longer by so many bytes."""
    fixed = [] if is_random else ["setarch", "-R"]
    environment = {**os.environ, "PAD": "x" * padding}
    done = subprocess.run(
        [*fixed, program], env=environment, check=True, capture_output=True, text=True
    )
    rows = (line.split(" ") for line in done.stdout.splitlines())
    return [
        Truth(int(function), int(height), int(start), tuple(path.split(">")))
        for function, height, start, path in rows
    ]


def outcomes(program: str, map_path: str, told: Sequence[Truth]) -> dict[str, int]:
    """How many of the paths that a program took a map resolves, has among others, has not, or has
    wrong."""
    path_map = read_map(map_path)
    starts = {*path_map.functions, *(one.function for one in told)}
    whole = whole_functions(program, starts)
    keyed = KeyedPaths(path_map, whole)
    roots = (node for node in path_map.nodes if node.parent == ROOT)
    above = {path_map.functions[node.function]: node.height_bytes for node in roots}
    found: dict[str, int] = dict.fromkeys(("resolved", "ambiguous", "missing", "wrong"), 0)
    for one in told:
        more = above[THREAD] if one.functions[0] == THREAD else 0
        residue = (one.start + more) % keyed.modulus_bytes
        height = one.height_bytes + more
        candidates = keyed.candidates(whole[one.function], height, ANY_MARK, residue)
        paths = [candidate.functions for candidate in candidates]
        right = "resolved" if len(paths) == 1 else "ambiguous"
        found["missing" if not paths else right if one.functions in paths else "wrong"] += 1
    return found
