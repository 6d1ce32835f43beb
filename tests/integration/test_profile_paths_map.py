"""`steelyard profile paths map`: paths by the code of programs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import User, validate
from tests.needs import need, needs_x86_64

pytestmark = needs_x86_64
PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile int sink;
FUNCTION int leaf(int n) { volatile int a[10]; a[n % 10] = n; return a[n % 10] + 1; }
FUNCTION int left(int n) { volatile int a[20]; a[1] = n; return leaf(a[1]) + 1; }
FUNCTION int right(int n) { volatile int a[40]; a[1] = n; return leaf(a[1]) + 2; }
FUNCTION int jumping(int n) { return left(n * 2); }
FUNCTION int unused(int n) { volatile int a[90]; a[1] = n; return right(a[1]) + 3; }
FUNCTION int many(int a, int b, int c, int d, int e, int f, int g, int h) {
    sink += leaf(a + b + c + d + e + f + g + h); return sink;
}
FUNCTION int various(int n) { volatile char a[n]; a[n - 1] = 1; return leaf(a[n - 1]); }
FUNCTION int choose(int n) {
    switch (n & 7) {
        case 0: return leaf(1) + 1; case 1: return left(2) + 1; case 2: return right(3) * 2;
        case 3: return leaf(4) - 1; case 4: return left(5) - 1; case 5: return right(6) * 3;
        case 6: return leaf(7) * 5; default: return n;
    }
}
FUNCTION int compare(const void* a, const void* b) { return leaf(*(int*)a) - *(int*)b; }
int (*by_pointer[3])(int) = {left, right, unused};
void* in_thread(void* given) { sink = right(3); return given; }
int main(int count, char** words) {
    int a[5] = {3, 1, 2, 5, 4};
    pthread_t thread;
    qsort(a, 5, sizeof *a, compare);
    pthread_create(&thread, 0, in_thread, 0);
    pthread_join(thread, 0);
    for (int k = 0; k < 8; k++) sink += choose(k);
    sink += many(1, 2, 3, 4, 5, 6, 7, count) + various(20 * count) + jumping(count) + leaf(2);
    sink += by_pointer[count % 2](count);
    return 0;
}
"""


def built(folder: Path, *flags: str) -> str:
    need("gcc")
    (folder / "program.c").write_text(PROGRAM)
    command = ["gcc", *flags, "program.c", "-o", "program", "-pthread"]
    subprocess.run(command, cwd=folder, check=True)
    return str(folder / "program")


def document(user: User, *words: str) -> dict[str, Any]:
    told = user.types("profile", "paths", "map", *words, "--json", "-")
    assert told.status == 0, told.err
    found = json.loads(told.out)
    validate(found)
    return found


@pytest.mark.parametrize(
    "flags",
    [
        ("-O2",),
        ("-O0",),
        ("-O2", "-no-pie"),
        ("-O2", "-fno-omit-frame-pointer", "-fcf-protection=full"),
        ("-O1", "-fno-plt", "-Wl,-z,now"),
    ],
    ids=" ".join,
)
def test_what_was_learnt_is_allowed_by_the_code_or_the_reason_is_named(
    user: User, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    program, path_map = built(tmp_path, *flags), str(tmp_path / "map")
    told = user.types("profile", "paths", "learn", "-o", path_map, "--", program)
    assert told.status == 0, told.err
    truth = document(user, path_map, "--static", program)["truth"]
    others = {one["reason"]: one["paths"] for one in truth["others"]}
    assert others.pop("a library or a signal calls its function back") >= 2
    (why,) = others
    assert why.startswith("the frame of various varies: it takes stack by a number")
    assert truth["allowed"] == truth["paths"] - sum(one["paths"] for one in truth["others"])
    assert truth["allowed"] >= 15


def test_a_key_that_was_never_learnt_has_the_path_of_the_code(user: User, tmp_path: Path) -> None:
    program, path_map = built(tmp_path, "-O2"), str(tmp_path / "map")
    told = user.types("profile", "paths", "learn", "-o", path_map, "--", program)
    assert told.status == 0, told.err
    # `unused` is called by a pointer in no run; its height is that of its neighbours.
    height = next(
        height
        for height in range(264, 700, 8)
        if document(user, path_map, "--key", f"left@{height}")["keys"][0]["candidates"]
    )
    (key,) = document(user, path_map, "--static", program, "--key", f"unused@{height}")["keys"]
    assert key["candidates"] == []
    assert {"frames": ["main", "unused"], "steps_never_learnt": 1} in key["allowed"]["paths"]
    (key,) = document(user, "--static", program, "--key", f"unused@{height}")["keys"]
    assert {"frames": ["main", "unused"], "steps_never_learnt": None} in key["allowed"]["paths"]


def test_a_stripped_program_and_one_without_its_tables(user: User, tmp_path: Path) -> None:
    program = built(tmp_path, "-O2")
    subprocess.run(["strip", program], check=True)
    code = document(user, "--static", program)["code"]
    assert code["reached_functions"] >= 9
    bare = built(tmp_path, "-O2", "-fno-asynchronous-unwind-tables")
    subprocess.run(["objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", bare], check=True)
    told = user.types("profile", "paths", "map", "--static", bare)
    assert told.status == 2
    assert "no tables of frames" in told.err


@pytest.mark.parametrize("key", ["leaf", "leaf@", "leaf@x", "leaf@0", "@12", "leaf@-5"])
def test_a_key_that_is_none_is_refused(user: User, tmp_path: Path, key: str) -> None:
    told = user.types("profile", "paths", "map", "--static", built(tmp_path, "-O2"), "--key", key)
    assert told.status == 2
    assert "FUNCTION@HEIGHT" in told.err


def test_a_function_that_is_not_there_and_a_map_of_another_build_are_refused(
    user: User, tmp_path: Path
) -> None:
    program, path_map = built(tmp_path, "-O2"), str(tmp_path / "map")
    told = user.types("profile", "paths", "map", "--static", program, "--key", "none@64")
    assert told.status == 2
    assert "has no function 'none'" in told.err
    assert user.types("profile", "paths", "learn", "-o", path_map, "--", program).status == 0
    told = user.types("profile", "paths", "map", path_map, "--static", built(tmp_path, "-O1"))
    assert told.status == 2
    assert "another build" in told.err


def test_a_report_searches_the_code_for_samples_whose_key_was_never_learnt(
    user: User, tmp_path: Path
) -> None:
    need("gcc")
    source = r"""
#include <stdlib.h>
#define FUNCTION __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void leaf(long n) { for (long i = 0; i < n; i++) sink += i; }
FUNCTION void seen(long n) { leaf(n); sink++; }
FUNCTION void unseen(long n) { volatile char room[400]; room[0] = 1; leaf(n); sink += room[0]; }
int main(int count, char** words) {
    if (count > 1) unseen(atol(words[1])); else seen(10);
    return 0;
}
"""
    (tmp_path / "late.c").write_text(source)
    subprocess.run(["gcc", "-O2", "late.c", "-o", "late"], cwd=tmp_path, check=True)
    program, path_map = str(tmp_path / "late"), str(tmp_path / "map")
    profile = str(tmp_path / "profile")
    assert user.types("profile", "paths", "learn", "-o", path_map, "--", program).status == 0
    record = ("profile", "record", "--paths", path_map, "-o", profile, "--", program, "400000000")
    told = user.types(*record)
    assert told.status == 0, told.err
    found = user.types("profile", "report", profile, "--json", "-")
    assert json.loads(found.out)["allowed"] is None
    found = user.types("profile", "report", profile, "--static", "--json", "-")
    assert found.status == 0, found.err
    answer = json.loads(found.out)
    validate(answer)
    most = answer["allowed"][0]
    assert most["function"] == "leaf"
    assert most["samples"] > answer["samples"] / 2
    paths = [one["frames"] for one in most["allowed"]["paths"]]
    assert paths == [["main", "unseen", "leaf"]]
    assert answer["resolved"] >= answer["by_code"]["resolved"] >= most["samples"]
    assert answer["missing"] < answer["samples"] / 2
    by_code = next(one for one in answer["paths"] if one["frames"] == paths[0])
    assert by_code["by_code"] == by_code["samples"] == most["samples"]
    assert by_code["candidate_count"] == 1
    text = user.types("profile", "report", profile, "--static")
    assert "main > unseen > leaf  (by the code)" in text.out
    assert "main > unseen > leaf  (2 steps never learnt)" in text.out
