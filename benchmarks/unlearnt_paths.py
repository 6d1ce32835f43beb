"""What marks of calls that were never learnt tell of the paths of another input.

    python -m benchmarks.unlearnt_paths [--folder FOLDER] [--learn SIZE] [--judge SIZE] [--resize]
        [NAME ...]

Programs of the suite in C and C++, built by gcc -O2. Paths are learnt of the input `test`, and the
calls that none of them has are marked in the finished program. Its own map is learnt of `test`, and
judged by the paths and the samples of `train`, or of other inputs: by the map alone, and with the
code of the program for keys that were never learnt. With --resize frames are made larger and calls
wrapped before, as by `resize --wrap`. No stack is read. Instructions are those of callgrind, for
`test`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from benchmarks.keys_of_paths.changed_program import instructions, learnt_map, map_path
from benchmarks.keys_of_paths.key_tables import percent
from benchmarks.path_learning import PROGRAMS, run_of
from steelyard.analysis.paths.path_check import PathCheck, judged
from steelyard.analysis.paths.path_outcomes import Outcomes
from steelyard.analysis.paths.resizing import BUDGET_RATIO, calls_learnt
from steelyard.app.profile.path_resizing import ResizingRequest, resize_paths
from steelyard.app.profile.sampled_judging import apart, with_samples
from steelyard.app.profile.static_paths import ProgramCode
from steelyard.core.errors import SteelyardError
from steelyard.profile.paths.learning_run import Surroundings
from steelyard.suite.recipe import SIZES

# Wanted of the means over programs.
LEAST_SAMPLES, MOST_WRONG, MOST_MORE = 0.97, 0.01, 0.01
_GOAL = 0.99


@dataclass(frozen=True)
class Told:
    """What one program gave: marked calls, and paths and samples of the other input."""

    name: str
    mark_count: int
    alone: PathCheck
    by_code: PathCheck
    passed: float
    more_instructions: float


def told(name: str, folder: str, sizes: tuple[str, str], resizes: bool) -> Told:
    """Learn, mark, learn again, and judge."""
    learnt_map(name, sizes[0], folder)
    run = run_of(name, "test")
    changed = os.path.join(folder, f"{name}-unlearnt")
    found = resize_paths(
        ResizingRequest(
            map_path=map_path(name, sizes[0], folder, False),
            seed=1,
            wraps_calls=resizes,
            marks_calls=True,
            budget_ratio=BUDGET_RATIO if resizes else 1.0,
            goal=_GOAL if resizes else 0.0,
            program=run.argv[0],
            output=changed,
            marks_unlearnt=True,
        )
    )
    assert found.marks is not None
    with tempfile.TemporaryDirectory(dir=folder) as maps:
        learnt, taken = (learnt_map(name, size, maps, changed) for size in sizes)
    other = run_of(name, sizes[1])
    command = apart((changed, *other.argv[1:]), Surroundings(other.directory, other.stdin))
    code = ProgramCode(changed, learnt).unlearnt
    calls = calls_learnt(taken)
    passes = sum(count for call, count in calls.items() if call in taken.marks)
    before = instructions(run)
    return Told(
        name=name,
        mark_count=len(found.marks.numbers),
        alone=judged(learnt, taken),
        by_code=with_samples(judged(learnt, taken, code), taken, command, changed, code),
        passed=passes / calls.total(),
        more_instructions=instructions(replace(run, argv=(changed, *run.argv[1:]))) / before - 1,
    )


def row(one: Told) -> str:
    """A line of the table."""
    alone, by_code, samples = one.alone.online, one.by_code.online, one.by_code.samples
    assert alone is not None
    assert by_code is not None
    assert samples is not None
    cells = (
        one.name, f"{one.mark_count:,}", percent(one.passed, 4), percent(one.more_instructions, 4),
        *_shares(alone.paths), *_shares(by_code.paths), percent(by_code.paths.by_code),
        f"{samples.sample_count:,}", *_shares(samples.outcomes), percent(samples.outcomes.by_code),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _shares(found: Outcomes) -> tuple[str, ...]:
    return tuple(percent(share) for share in (found.resolved, found.wrong, found.missing))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder")
    parser.add_argument("--learn", choices=SIZES, default="test")
    parser.add_argument("--judge", choices=SIZES, default="train")
    parser.add_argument("--resize", action="store_true")
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    given = parser.parse_args(arguments)
    shares = "resolved | wrong | missing"
    print(
        "| program | marked calls | calls of train that pass one | more instructions, test "
        f"| paths, by the map: {shares} | and by code: {shares} | of these by code "
        f"| samples | {shares} | of these by code |"
    )
    print(f"|{'---|' * 16}", flush=True)
    sizes, found = (given.learn, given.judge), list[Told]()
    with tempfile.TemporaryDirectory() as temporary:
        for name in given.programs:
            try:
                one = told(name, given.folder or temporary, sizes, given.resize)
            except (SteelyardError, subprocess.SubprocessError, OSError) as error:
                print(f"{name} is left out: {str(error).splitlines()[0][:200]}", flush=True)
                continue
            print(row(one), flush=True)
            found.append(one)
    if not found:
        return 1
    samples = [one.by_code.samples.outcomes for one in found if one.by_code.samples]
    paths = [one.by_code.online.paths for one in found if one.by_code.online]
    means = (fmean(one.resolved for one in samples), fmean(one.wrong for one in paths))
    dear = max(one.more_instructions for one in found)
    print(f"mean: samples resolved {percent(means[0])}, paths wrong {percent(means[1], 2)}")
    print(f"most instructions more: {percent(dear, 4)}")
    return int(means[0] < LEAST_SAMPLES or means[1] > MOST_WRONG or dear > MOST_MORE)


if __name__ == "__main__":
    sys.exit(main())
