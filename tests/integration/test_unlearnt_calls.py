"""Paths that were never learnt: by the code, and by what marked calls leave to a thread."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from steelyard.analysis.paths.lookup import KeyedPaths
from steelyard.app.profile.path_resizing import ResizingRequest, resize_paths
from steelyard.app.profile.static_paths import ProgramCode
from steelyard.core.native_program import native_program
from steelyard.profile.paths.learning_run import learning_run
from steelyard.profile.paths.map_file import read_map, write_map
from steelyard.profile.paths.mark_samples import sampling_marks
from steelyard.profile.recording_request import Recording
from tests.branching_programs import source
from tests.integration.conftest import User
from tests.needs import need, needs, needs_x86_64

pytestmark = [
    needs_x86_64,
    needs("g++"),
]
COMMANDS = [
    "gcc -O0",
    "gcc -O2",
    "g++ -O3 -no-pie",
    "clang -O2",
    "clang++ -O0",
    "clang -O3 -fno-omit-frame-pointer",
]


# Some frames of this one are on paths.
VARYING_SEED = 2


def built(folder: Path, command: str, seed: int, varies: bool = False) -> str:
    compiler, *flags = command.split()
    need(compiler)
    language = "c++" if "++" in compiler else "c"
    (folder / "source").write_text(source(seed, varies))
    call = [compiler, *flags, "-x", language, "source", "-o", "program"]
    subprocess.run(call, cwd=folder, check=True, capture_output=True)
    return str(folder / "program")


def changed_program(program: str, wraps: bool = False) -> str:
    """A program whose calls that the first input does not take are marked."""
    write_map(learning_run([program, "1"], program).path_map, f"{program}.paths")
    changed = f"{program}-changed"
    resize_paths(
        ResizingRequest(
            map_path=f"{program}.paths",
            seed=1,
            wraps_calls=wraps,
            marks_calls=not wraps,
            budget_ratio=2.5,
            goal=1.0,
            most_wrapped_ratio=1.0,
            program=program,
            output=changed,
            marks_unlearnt=not wraps,
        )
    )
    return changed


def printed(program: str, word: str) -> list[tuple[int, int, int, tuple[str, ...]]]:
    """Frames, values of the thread, calls by a pointer, and paths, as the program notes them."""
    with sampling_marks(Recording("", (program,), period_ns=1e9)) as recording:
        environment = {**os.environ, **recording.environment}
        environment["LD_PRELOAD"] += f":{native_program('libsteelyard-stacks.so', 'notes')}"
        environment["STEELYARD_STACK_NOTES"] = f"{program}.notes"
        call = [program, word]
        run = subprocess.run(call, capture_output=True, text=True, check=True, env=environment)
    lines = [line.split() for line in run.stdout.splitlines()]
    return [
        (int(frame, 16), int(value, 16), int(pointed), tuple(path.split(">")))
        for frame, value, pointed, path in lines
    ]


def outcomes(changed: str, word: str) -> Counter[str]:
    """What becomes of the keys of another input's paths, by the truth that the program prints."""
    learnt = learning_run([changed, "1"], changed).path_map
    assert learnt.marks
    keyed, code = KeyedPaths(learnt, {}), ProgramCode(changed, learnt)
    found: Counter[str] = Counter()
    lines = printed(changed, word)
    first = next(node for node in learnt.nodes if learnt.functions[node.function] == "show")
    start = lines[0][0] + first.height_bytes
    for frame, value, pointed, path in lines:
        (function,) = code.addresses_of(path[-1])
        height = start - frame
        mark = keyed.mark(function, height, value, start)
        known = {one.functions for one in keyed.candidates(function, height, mark)}
        source_of = "learnt"
        if not known:
            allowed = code.allowed_to_carry(function, height, (value, start))
            known, source_of = set(allowed.paths if allowed.are_all else ()), "code"
        if known and path not in known:
            # A call by a pointer has no mark, as its callee may have none.
            found["wrong, by a pointer" if pointed else "wrong"] += 1
        elif known:
            found[f"{source_of}, {'resolved' if len(known) == 1 else 'ambiguous'}"] += 1
        else:
            found["missing"] += 1
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_paths_of_another_input_are_told_by_marks_and_code_and_none_is_wrong(
    tmp_path: Path, command: str
):
    found = outcomes(changed_program(built(tmp_path, command, 0)), "2")
    assert found["wrong"] == 0
    assert found["code, resolved"] > 20
    assert found["code, resolved"] > found["code, ambiguous"]


@pytest.mark.parametrize("command", COMMANDS[:4])
def test_paths_through_frames_of_other_sizes_are_missing_and_none_is_wrong(
    tmp_path: Path, command: str
):
    found = outcomes(changed_program(built(tmp_path, command, VARYING_SEED, varies=True)), "3")
    assert found["wrong"] == 0
    assert found["missing"] > 0
    assert found["learnt, resolved"] > 0


@pytest.mark.parametrize("wraps", [False, True])
def test_the_code_of_a_changed_program_has_its_calls_through_wrappers_and_marks(
    user: User, tmp_path: Path, wraps: bool
):
    changed = changed_program(built(tmp_path, "gcc -O2", 1), wraps)
    map_path = f"{changed}.paths"
    found = user.types("profile", "paths", "map", map_path, "--static", changed, "--json", "-")
    truth = json.loads(found.out)["truth"]
    reasons = {one["reason"] for one in truth["others"]}
    assert truth["paths"] > 5
    assert "no such call is seen in the code" not in reasons
    assert "its call has another height" not in reasons


def test_marks_of_unlearnt_calls_need_the_program(user: User, tmp_path: Path):
    program = built(tmp_path, "gcc -O2", 0)
    changed_program(program)
    found = user.types("profile", "paths", "resize", f"{program}.paths", "--mark-unlearnt")
    assert found.status == 2
    assert "--program" in found.err


def test_judge_searches_the_code_for_what_was_never_learnt(user: User, tmp_path: Path):
    changed = changed_program(built(tmp_path, "gcc -O2", 0))
    map_path = str(tmp_path / "map")
    assert user.types("profile", "paths", "learn", "-o", map_path, "--", changed, "1").status == 0
    found: list[dict[str, float]] = []
    for more in ((), ("--static",)):
        target = str(tmp_path / f"judged{len(found)}")
        judging = ("profile", "paths", "judge", map_path, "--json", target, *more)
        assert user.types(*judging, "--", changed, "2").status == 0
        found.append(json.loads(Path(target).read_text())["online"]["paths"])
    plain, by_code = found
    assert plain["by_code"] == 0
    assert plain["missing"] > 0
    assert by_code["by_code"] > 0
    assert by_code["missing"] < plain["missing"]
    assert by_code["wrong"] == 0


def test_the_map_of_a_changed_program_has_the_marks_of_calls_that_were_not_learnt(tmp_path: Path):
    changed = changed_program(built(tmp_path, "gcc -O2", 0))
    found = read_map(f"{changed}.paths")
    learnt = {
        (found.nodes[node.parent].function, node.function)
        for node in found.nodes
        if node.parent >= 0
    }
    assert set(found.marks) - learnt
