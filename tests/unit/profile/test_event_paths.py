"""Names in place of the addresses that a recorder found."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from steelyard.analysis.paths.path_map import ROOT, PathMap, PathNode
from steelyard.core.errors import MissingCapabilityError
from steelyard.profile import event_paths
from steelyard.profile.event_paths import KnownNames, check_recorder, named_paths
from steelyard.profile.paths.learning_run import build_of
from steelyard.profile.paths.map_file import write_map
from steelyard.profile.symbols.elf_symbols import read_symbols
from tests.needs import needs, needs_x86_64

SOURCE = """
static inline int inner(int x) { return x * x + 1; }
__attribute__((noinline)) int outer(int x) { return inner(x); }
int main(int n, char **words) { return outer(n) + (words == 0); }
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    (tmp_path / "p.c").write_text(SOURCE)
    path = str(tmp_path / "p")
    subprocess.run(["cc", "-O1", "-o", path, str(tmp_path / "p.c")], check=True)
    return path


def offset_of(path: str, function: str) -> int:
    symbols = read_symbols(path)
    place = list(symbols.names).index(function.encode())
    address = int(symbols.addresses[place])
    for offset, size, start in symbols.segments:
        if start <= address < start + size:
            return address - start + offset
    raise AssertionError(function)


def told(files: list[str], paths: list[object]) -> dict[str, object]:
    return {"files": files, "paths": paths, "events": 9, "cut": 1, "lost": 2}


@needs("cc")
def test_paths_by_different_lines_of_the_same_functions_are_one(program: str) -> None:
    outer, main = offset_of(program, "outer"), offset_of(program, "main")
    raw = told([program], [[0, 2, [0, outer, 0, main]], [0, 3, [0, outer, 0, main + 1]]])
    found = named_paths(raw, KnownNames())
    functions = [name for name, _ in found["functions"]]
    assert found["paths"] == [[0, 5, [functions.index("main"), functions.index("outer")]]]
    assert (found["events"], found["cut"], found["lost"]) == (9, 1, 2)


@needs("cc")
def test_a_function_that_was_inlined_stands_in_the_path(tmp_path: Path) -> None:
    # An instruction that stays, whatever the compiler makes of the rest.
    body = 'int y; __asm__ volatile("mov %1, %0" : "=r"(y) : "r"(x)); return y;'
    (tmp_path / "p.c").write_text(SOURCE.replace("return x * x + 1;", body))
    path = str(tmp_path / "p")
    subprocess.run(["cc", "-g", "-O1", "-o", path, str(tmp_path / "p.c")], check=True)
    start = offset_of(path, "outer")
    raw = told([path], [[0, 1, [0, start + step]] for step in range(6)])
    paths = {
        tuple(found["functions"][index][0] for index in path)
        for found in [named_paths(raw, KnownNames())]
        for _, _, path in found["paths"]
    }
    assert ("outer", "inner") in paths


def test_what_has_no_name_is_called_by_its_file_and_what_has_no_file_by_that(
    tmp_path: Path,
) -> None:
    gone = str(tmp_path / "gone")
    raw = told([gone, f"//anon:{os.getpid()}"], [[0, 1, [0, 16, 1, 32]]])
    found = named_paths(raw, KnownNames())
    assert sorted(name for name, _ in found["functions"]) == ["[anonymous memory]", "[gone]"]


@needs("cc")
def test_names_are_looked_up_once_and_again_where_another_file_has_come(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = told([program], [[0, 1, [0, offset_of(program, "outer")]]])
    kept = str(tmp_path / "known")
    first = KnownNames(kept)
    expected = named_paths(raw, first)
    first.keep()
    asked: list[str] = []
    look = event_paths._symbols
    monkeypatch.setattr(event_paths, "_symbols", lambda path: asked.append(path) or look(path))
    assert named_paths(raw, KnownNames(kept)) == expected
    assert asked == []
    os.utime(program, ns=(1, 1))
    assert named_paths(raw, KnownNames(kept)) == expected
    assert asked == [program]


def test_the_rarest_paths_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_paths, "_MOST_PATHS", 1)
    files = [str(tmp_path / name) for name in "abc"]
    raw = told(files, [[0, 7, [0, 1]], [0, 2, [1, 1]], [0, 3, [2, 1]]])
    found = named_paths(raw, KnownNames())
    assert found["paths"] == [[0, 7, [0]], [0, 5, []]]


def test_why_there_are_no_stacks_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_EVENT_RECORDER", str(tmp_path / "none"))
    with pytest.raises(MissingCapabilityError, match="make native"):
        check_recorder(["--event", "1"])
    recorder = tmp_path / "recorder"
    recorder.write_text("#!/bin/sh\necho 'error: This kernel gives no call stacks.'\nexit 1\n")
    recorder.chmod(0o755)
    monkeypatch.setenv("STEELYARD_EVENT_RECORDER", str(recorder))
    with pytest.raises(MissingCapabilityError, match=r"no call stacks\. Leave --stacks out"):
        check_recorder(["--event", "1"])


@needs("cc")
@needs_x86_64
def test_registers_are_looked_up_in_a_map(program: str, tmp_path: Path) -> None:
    symbols = read_symbols(program)
    main, outer = (
        int(symbols.addresses[list(symbols.names).index(name)]) for name in (b"main", b"outer")
    )
    # By main, 48 bytes high, or by itself at 64; and at 64 by main too, three times as often.
    nodes = [
        *(PathNode(ROOT, main, 16, 1), PathNode(0, outer, 48, 2)),
        *(PathNode(1, outer, 64, 1), PathNode(0, outer, 64, 3)),
    ]
    path_map = str(tmp_path / "p.paths")
    names = {main: "main", outer: "outer"}
    write_map(PathMap("p", build_of(program), 1, names, {}, nodes), path_map)
    at = offset_of(program, "outer")
    # At the first instruction of a function its frame begins 8 bytes above the stack pointer.
    raw = told([program, "/lib/none.so"], [])
    raw["keys"] = [
        *([0, 5, 0, at, 56, -1], [0, 4, 0, at, 72, -1], [0, 2, 0, at, 88, -1]),
        *([0, 1, 0, at, -1, -1], [0, 7, 1, at, 56, -1]),
    ]
    found = named_paths(raw, KnownNames(), path_map)

    def named(indices: list[int]) -> list[str]:
        return [found["functions"][index][0] for index in indices]

    by_count = {count: (named(indices), known) for _, count, indices, known in found["paths"]}
    assert by_count[5] == (
        ["main", "outer"],
        {"outcome": "resolved", "candidates": [], "reason": ""},
    )
    path, known = by_count[4]
    assert (path, known["outcome"]) == (["outer"], "ambiguous")
    assert [(share, named(one)) for share, one in known["candidates"]] == [
        (0.75, ["main", "outer"]),
        (0.25, ["main", "outer", "outer"]),
    ]
    reasons = {count: known["reason"] for count, (_, known) in by_count.items()}
    assert reasons[2] == "key never learnt"
    assert reasons[1] == "where its thread's stack begins is not known"
    assert reasons[7] == "in code that is not the program's"


@needs("cc")
def test_another_build_of_the_program_has_no_paths_by_a_map(program: str, tmp_path: Path) -> None:
    path_map = str(tmp_path / "p.paths")
    nodes = [PathNode(ROOT, 1, 16, 1)]
    write_map(PathMap("p", "another", 1, {1: "main"}, {}, nodes), path_map)
    raw = told([program], [])
    raw["keys"] = [[0, 5, 0, offset_of(program, "outer"), 24, -1]]
    ((_, count, _, known),) = named_paths(raw, KnownNames(), path_map)["paths"]
    assert (count, known["outcome"]) == (5, "missing")
    assert known["reason"] == "another build than the map's"
