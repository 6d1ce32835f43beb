"""Paths through functions that align their stack hold in every environment, or are missing."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.profile.paths.map_file import read_map
from tests.aligned_programs import HEAD, aligned_source, built_aligned, outcomes, truths
from tests.integration.conftest import User
from tests.needs import need, needs, needs_x86_64

pytestmark = [
    needs_x86_64,
    needs("gcc"),
]
LEARN = ("profile", "paths", "learn", "-o")
COMPILERS = [
    ("gcc", "-O2"),
    ("gcc", "-O0"),
    ("gcc", "-O3", "-march=native"),
    ("clang", "-O2"),
    ("clang", "-O1", "-march=native"),
]


def learnt(user: User, program: str) -> str:
    path_map = f"{program}.map"
    told = user.types(*LEARN, path_map, "--", program)
    assert told.status == 0, told.err
    return path_map


def padded(user: User, padding: int) -> User:
    """The user in an environment that is longer by so many bytes."""
    return replace(user, environment={**user.environment, "PAD": "x" * padding})


def everywhere(program: str, path_map: str) -> Counter[str]:
    """The outcomes in environments of several lengths, with and without randomised addresses."""
    found: Counter[str] = Counter()
    for padding in (0, 16, 32, 48, 1000, 65_000):
        for is_random in (False, True):
            found.update(outcomes(program, path_map, truths(program, padding, is_random)))
    return found


@pytest.mark.parametrize("words", COMPILERS, ids=" ".join)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_map_of_one_environment_has_the_paths_of_all(words, seed, user: User, tmp_path: Path):
    need(words[0])
    program = built_aligned(tmp_path, "aligned", aligned_source(seed), words)
    found = everywhere(program, learnt(user, program))
    assert found["resolved"] > 0
    assert (found["wrong"], found["missing"]) == (0, 0)


# `some` calls before it aligns, and after.
BEFORE = r"""
void some(int n);
__asm__(".text\n.globl some\n.type some, @function\nsome: .cfi_startproc\n"
        "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\nmov %rsp, %rbp\n"
        ".cfi_def_cfa_register 6\npush %rbx\nsub $24, %rsp\n.cfi_offset 3, -24\nmov %edi, %ebx\n"
        "test %edi, %edi\nje 1f\nmov $1, %edi\ncall leaf\n1: and $-64, %rsp\nmov $2, %edi\n"
        "call leaf\nmov -8(%rbp), %rbx\nleave\n.cfi_def_cfa 7, 8\nret\n.cfi_endproc\n"
        ".size some, .-some\n");
"""
ALIGNED = r"""
void some(int n);
__asm__(".text\n.globl some\n.type some, @function\nsome: .cfi_startproc\n"
        "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\nmov %rsp, %rbp\n"
        ".cfi_def_cfa_register 6\nALIGN\n"
        "mov $2, %edi\ncall leaf\nleave\n.cfi_def_cfa 7, 8\nret\n.cfi_endproc\n"
        ".size some, .-some\n");
"""
BY_REGISTER = ALIGNED.replace("ALIGN", r"lea -256(%rsp), %rax\nand $-64, %rax\nmov %rax, %rsp")
LARGE = ALIGNED.replace("ALIGN", "and $-256, %rsp")
REST = r"""
__attribute__((noinline, noclone)) void other(int n) { volatile char room[48];
    ENTER("other"); use(room, 48); leaf(n); LEAVE(); }
int main(void) { base = (char*)__libc_stack_end; ENTER("main");
    for (int n = 0; n < 2; n++) { ENTER("some"); some(n); LEAVE(); other(n); }
    LEAVE(); return 0; }
"""
LEAF = r"""
__attribute__((used, noinline, noclone)) void leaf(int n) { volatile char room[40];
    ENTER("leaf"); use(room, 40); say((void*)leaf, __builtin_dwarf_cfa()); LEAVE(); }
"""


@pytest.mark.parametrize(
    "aligning", [BEFORE, LARGE, BY_REGISTER], ids=["calls before", "256 bytes", "by a register"]
)
def test_what_cannot_be_followed_is_named_and_missing(aligning, user: User, tmp_path: Path):
    source = "\n".join((HEAD, LEAF, aligning, REST))
    program = built_aligned(tmp_path, "aligned", source, ("gcc", "-O1"))
    told = user.types(*LEARN, f"{program}.map", "--", program)
    assert "cannot be followed by some." in " ".join(told.out.split())
    found = everywhere(program, f"{program}.map")
    assert found["missing"] > 0
    assert found["missing"] == found.total()


def test_a_map_that_was_written_before_alignments_is_refused_where_there_are_some(
    user: User, tmp_path: Path
):
    program = built_aligned(tmp_path, "aligned", aligned_source(1), ("gcc", "-O2"))
    calls = REST.replace("some(n)", "other(n)")
    plain = built_aligned(tmp_path, "plain", f"{HEAD}{LEAF}{calls}", ("gcc", "-O1"))
    for one, is_refused in ((program, True), (plain, False)):
        path = Path(learnt(user, one))
        document = json.loads(path.read_text())
        del document["aligning"], document["digest"]
        path.write_text(json.dumps(document))
        assert read_map(str(path)).aligning is None
        for words in (
            (*LEARN, str(path), "--", one),
            ("profile", "paths", "judge", str(path), "--", one),
            ("profile", "record", "--paths", str(path), "-o", f"{one}.profile", "--", one),
        ):
            told = user.types(*words)
            assert (told.status != 0) == is_refused, (words, told.err)
            assert ("did not follow aligned stacks" in told.err) == is_refused
            if is_refused:
                assert "Learn the program anew" in told.err


def test_a_map_of_another_environment_is_judged_without_a_wrong_or_missing_path(
    user: User, tmp_path: Path
):
    program = built_aligned(tmp_path, "aligned", aligned_source(3), ("gcc", "-O2"))
    path_map, document = learnt(user, program), f"{program}.json"
    for padding in (16, 40, 65_000):
        told = padded(user, padding).types(
            "profile", "paths", "judge", path_map, "--json", document, "--", program
        )
        assert told.status == 0, told.err
        online = json.loads(Path(document).read_text())["online"]
        for one in (online["paths"], online["calls"]):
            assert (one["wrong"], one["missing"]) == (0, 0)


def test_a_changed_alignment_in_a_map_is_damage(tmp_path: Path, user: User):
    program = built_aligned(tmp_path, "aligned", aligned_source(1), ("gcc", "-O2"))
    path = Path(learnt(user, program))
    document = json.loads(path.read_text())
    for row in ([1], [1, 48, 8], [1, 128, 8], ["main", 64, 8], [1, 64, -8], [1, 64, True]):
        document["aligning"] = [row]
        document.pop("digest", None)
        path.write_text(json.dumps(document))
        told = user.types("profile", "paths", "judge", str(path))
        assert told.status != 0
        assert "aligning[0]" in told.err


def test_heights_of_a_map_are_the_same_whatever_environment_it_was_learnt_in(
    user: User, tmp_path: Path
):
    program = built_aligned(tmp_path, "aligned", aligned_source(5), ("gcc", "-O2"))
    maps = []
    for padding in (0, 16, 32, 48):
        path = f"{program}.{padding}"
        told = padded(user, padding).types(*LEARN, path, "--", program)
        assert told.status == 0, told.err
        maps.append(set(read_map(path).nodes))
    assert all(one == maps[0] for one in maps)


BUSY = r"""
#include <pthread.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile unsigned long sink;
FUNCTION void leaf(int n) {
    volatile char room[40]; room[0] = n; for (int k = 0; k < 20000; k++) sink += k * room[0]; }
#define CALLER(name, size, bytes, callee) FUNCTION void name(int n) { \
    __attribute__((aligned(size))) volatile char room[bytes]; room[0] = n; callee(n); \
    sink += room[0]; }
CALLER(a32, 32, 40, leaf) CALLER(a64, 64, 100, leaf) CALLER(b32, 32, 200, a64)
CALLER(b64, 64, 300, a32) CALLER(plain, 16, 72, leaf) CALLER(c64, 64, 64, plain)
FUNCTION void all(int n) { a32(n); a64(n); b32(n); b64(n); plain(n); c64(n); }
static void* begin(void* unused) {
    __attribute__((aligned(64))) volatile char room[64]; room[0] = 1;
    for (int k = 0; k < 200; k++) all(k);
    sink += room[0]; return unused; }
int main(void) {
    __attribute__((aligned(64))) volatile char room[64]; pthread_t other; room[0] = 1;
    pthread_create(&other, 0, begin, 0); for (int k = 0; k < 200; k++) all(k);
    pthread_join(other, 0); sink += room[0]; return 0; }
"""


@pytest.mark.parametrize("paths", ["map", "auto"])
def test_samples_of_another_environment_have_no_path_that_their_stacks_do_not(
    paths, user: User, tmp_path: Path
):
    program = built_aligned(tmp_path, "busy", BUSY, ("gcc", "-O2"))
    given = learnt(user, program) if paths == "map" else paths
    stacks = ("--stacks=dwarf",) if paths == "map" else ()
    for padding in (16, 40):
        profile = f"{program}.{padding}"
        told = padded(user, padding).types(
            "profile", "record", "--paths", given, *stacks, "-o", profile, "--", program
        )
        assert told.status == 0, told.err
        found = user.types("profile", "report", profile, "--json", "-").document()
        checked = found["checked" if paths == "map" else "learnt_beside"]
        assert checked["wrong"] == 0
        assert found["resolved"] > 0
        if paths == "map":
            # A path begins at what `_start` calls: a sample in itself has none.
            unlearnt = {
                one["function"]
                for one in found["missing_in"]
                if one["reason"] == "key never learnt"
            }
            assert unlearnt <= {"_start"}
