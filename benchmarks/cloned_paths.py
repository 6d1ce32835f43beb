"""How many call paths of finished programs clones of functions tell, and what they cost.

    python -m benchmarks.cloned_paths [--folder FOLDER] [--goal SHARE] [--most-code PERCENT]
        [--uncounted] [NAME ...]

Programs of the suite in C and C++, built by gcc -O2 (Mytkowicz 2010, section 5.4.3). Paths are
learnt of the input `test`. Functions are cloned in the finished program, alone, and after frames
were made larger. What the second one prints is compared with what the program printed, the map that
is predicted with one that is learnt of it, and their instructions by callgrind, unless
--uncounted.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.keys_of_paths.changed_program import instructions, learnt_map
from benchmarks.keys_of_paths.key_tables import percent
from benchmarks.path_learning import PROGRAMS, Run, run_of
from steelyard.analysis.paths.path_check import judged
from steelyard.analysis.paths.path_map import PathMap, functions_of
from steelyard.analysis.paths.resizing import BUDGET_RATIO, ResizingRules
from steelyard.app.profile.path_cloning import cloned
from steelyard.app.profile.path_resizing import ResizingRequest, map_of_output, resize_paths
from steelyard.core.errors import SteelyardError
from steelyard.profile.paths.frame_sizes import read_frames
from steelyard.profile.paths.learning_run import Surroundings, learning_run
from steelyard.profile.paths.map_file import read_map
from steelyard.profile.paths.wrapped_program import read_calls

MOST_PATHS = 100_000
_NUMBER = re.compile(rb"[ \d.]*\d")
_HEAD = (
    "program",
    "paths",
    "as it is",
    "cloned",
    "code",
    "resized",
    "and cloned",
    "clones",
    "bytes",
    "code",
    "search, s",
    "more instructions",
    "output",
    "predicted and learnt",
)


@dataclass(frozen=True)
class Told:
    """What one program gave; `other_count`: nodes of one of two maps alone."""

    name: str
    path_count: int
    before: float
    alone: float
    alone_code: float
    resized: float
    after: float
    clones: int
    byte_count: int
    code: float
    search_s: float
    more_instructions: float | None
    output: str
    other_count: int


def told(name: str, folder: str, goal: float, most_code: float, counts: bool) -> Told:
    """Learn, clone, run, learn again, and count."""
    learnt, run = learnt_map(name, "test", folder), run_of(name, "test")
    if len(learnt.nodes) > MOST_PATHS:
        raise SteelyardError(f"more than {MOST_PATHS:,} paths")
    program, changed = run.argv[0], os.path.join(folder, f"{name}-cloned")
    began_s = time.process_time()
    found = resize_paths(
        ResizingRequest(
            map_path=os.path.join(folder, f"{name}-test.paths"),
            seed=1,
            wraps_calls=False,
            marks_calls=False,
            budget_ratio=BUDGET_RATIO,
            goal=goal,
            most_cloned_ratio=most_code / 100,
            program=program,
            output=changed,
        )
    )
    search_s = time.process_time() - began_s
    cloning = found.cloning
    assert cloning is not None
    rules = ResizingRules(1, frames={}, budget_ratio=1.0, goal=goal)
    alone = cloned(
        program, learnt, read_frames(program), read_calls(program), rules, most_code / 100
    )
    changed_run = replace(run, argv=(changed, *run.argv[1:]))
    apart = Surroundings(run.directory, run.stdin)
    seen = learning_run(changed_run.argv, changed, apart).path_map
    return Told(
        name=name,
        path_count=found.after.path_count,
        before=found.before.paths.resolved,
        alone=judged(alone.path_map).offline.paths.resolved,
        alone_code=alone.outcome.growth_ratio,
        resized=cloning.sized.paths.resolved,
        after=found.after.paths.resolved,
        clones=len(cloning.choice.clones.clones),
        byte_count=cloning.choice.byte_count,
        code=cloning.growth_ratio,
        search_s=search_s,
        more_instructions=instructions(changed_run) / instructions(run) - 1 if counts else None,
        output=_compared(_printed(run), _printed(changed_run)),
        other_count=len(_keys(read_map(map_of_output(changed))) ^ _keys(seen)),
    )


def _printed(run: Run) -> tuple[int, bytes]:
    with open(run.stdin or os.devnull, "rb") as stdin:
        done = subprocess.run(
            run.argv, stdin=stdin, cwd=run.directory, capture_output=True, check=False
        )
    return done.returncode, done.stdout


def _compared(before: tuple[int, bytes], after: tuple[int, bytes]) -> str:
    """Solvers print times and how much memory they took."""
    if before == after:
        return "the same"
    masked = [(status, _NUMBER.sub(b"#", text)) for status, text in (before, after)]
    return "the same but for numbers" if masked[0] == masked[1] else "another"


def _keys(path_map: PathMap) -> set[tuple[int, tuple[int, ...]]]:
    return {
        (node.height_bytes, tuple(functions_of(path_map, at)))
        for at, node in enumerate(path_map.nodes)
    }


def row(one: Told) -> str:
    """A line of the table."""
    cells = (
        one.name,
        f"{one.path_count:,}",
        percent(one.before),
        percent(one.alone),
        f"{100 * one.alone_code:.1f} %",
        percent(one.resized),
        percent(one.after),
        f"{one.clones:,}",
        f"{one.byte_count:,}",
        f"{100 * one.code:.1f} %",
        f"{one.search_s:.1f}",
        "" if one.more_instructions is None else f"{100 * one.more_instructions:.4f} %",
        one.output,
        "the same" if not one.other_count else f"{one.other_count:,} others",
    )
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder")
    parser.add_argument("--goal", type=float, default=1.0)
    parser.add_argument("--most-code", type=float, default=10.0)
    parser.add_argument("--uncounted", action="store_true")
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    given = parser.parse_args(arguments)
    print(f"| {' | '.join(_HEAD)} |\n{'|---' * len(_HEAD)}|", flush=True)
    found: list[Told] = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in given.programs:
            try:
                one = told(
                    name,
                    given.folder or temporary,
                    given.goal,
                    given.most_code,
                    counts=not given.uncounted,
                )
                found.append(one)
            except (SteelyardError, subprocess.SubprocessError) as error:
                print(f"{name} is left out: {str(error).splitlines()[0][:200]}", flush=True)
                continue
            print(row(found[-1]), flush=True)
    return int(not found or any(one.after < one.resized for one in found))


if __name__ == "__main__":
    sys.exit(main())
