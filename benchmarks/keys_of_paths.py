"""How many call paths the height of the stack tells, with frames as they are and with larger ones.

    python -m benchmarks.keys_of_paths [--folder FOLDER] [--budget RATIO] [--goal SHARE] [NAME ...]

Programs of the suite in C and C++, built by gcc -O2, as in Mytkowicz 2010, tables 5.1 to 5.3 and
figures 5.2 and 5.7 to 5.12. Paths are learnt of the input `test`; offline they are judged by
themselves, online by those of the input `train`. Frames are made larger only where they can grow in
the finished program; calls are wrapped on the map alone. Maps that are in FOLDER are used again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from random import Random

from benchmarks.path_learning import PROGRAMS, run_of
from steelyard.analysis.paths.path_check import CANDIDATE_LIMITS, PathCheck, judged
from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.resizing import (
    BUDGET_RATIO,
    Resizing,
    ResizingRules,
    resized,
    with_sizes,
)
from steelyard.analysis.paths.separation_search import GOAL
from steelyard.core.errors import SteelyardError
from steelyard.profile.paths.frame_sizes import read_frames
from steelyard.profile.paths.map_file import read_map

MOST_LEARNING_S = 300
MOST_PATHS = 300_000
LOOKUPS = 200_000
_FIVE = CANDIDATE_LIMITS.index(5)
# What is asked of means over programs, after resizing and wrapping.
LEAST_OFFLINE, LEAST_ONLINE, LEAST_FIVE, MOST_WRONG, MOST_GROWTH = 0.97, 0.85, 0.99, 0.01, 1.13
KINDS = ("as it is", "resized", "resized, wrapped")


@dataclass(frozen=True)
class Told:
    """What one program's maps told, for each of `KINDS`."""

    name: str
    test_paths: int
    train_paths: int
    checks: tuple[PathCheck, ...]
    resizings: tuple[Resizing, ...]
    search_s: tuple[float, ...]
    lookup_ns: float


def learnt_map(name: str, size: str, folder: str) -> tuple[PathMap, str]:
    """The map of an input, learnt where it is not there yet, and the program."""
    run = run_of(name, size)
    path = os.path.join(folder, f"{name}-{size}.paths")
    if not os.path.exists(path):
        learning = (sys.executable, "-m", "steelyard.cli.main", "profile", "paths", "learn")
        with open(run.stdin, "rb") as stdin:
            done = subprocess.run(
                [*learning, "-o", path, "--program", run.argv[0], "--", *run.argv],
                cwd=run.directory,
                stdin=stdin,
                capture_output=True,
                check=False,
                timeout=MOST_LEARNING_S,
            )
        # Solvers say by their status what they found.
        if not os.path.exists(path):
            raise SteelyardError(done.stderr.decode(errors="replace") or "no map was made")
    return read_map(path), run.argv[0]


def told(name: str, folder: str, budget: float, goal: float) -> Told:
    """Learn, judge, resize, and judge again."""
    test, program = learnt_map(name, "test", folder)
    train, _ = learnt_map(name, "train", folder)
    if max(len(test.nodes), len(train.nodes)) > MOST_PATHS:
        raise SteelyardError(f"more than {MOST_PATHS:,} paths")
    frames = read_frames(program).most_bytes()
    checks, resizings, search_s = [judged(test, train)], list[Resizing](), list[float]()
    for wraps in (False, True):
        before = time.process_time()
        found = resized(test, ResizingRules(1, frames, wraps, budget, goal))
        search_s.append(time.process_time() - before)
        resizings.append(found)
        changed = with_sizes(train, found.frame_bytes, found.call_bytes)
        checks.append(judged(found.path_map, changed))
    online = checks[0].online
    return Told(
        name,
        checks[0].offline.path_count,
        0 if online is None else online.path_count,
        tuple(checks),
        tuple(resizings),
        tuple(search_s),
        lookup_ns(test),
    )


def lookup_ns(path_map: PathMap) -> float:
    """Processor time of finding a key that is drawn, in nanoseconds (Python)."""
    keys: dict[tuple[int, int], int] = {}
    for index, node in enumerate(path_map.nodes):
        keys.setdefault((node.function, node.height_bytes), index)
    drawn = Random(1).choices(list(keys), k=LOOKUPS)
    before = time.process_time()
    for key in drawn:
        keys[key]
    return (time.process_time() - before) / LOOKUPS * 1e9


def percent(share: float) -> str:
    """A share as a percentage."""
    return f"{100 * share:.1f} %"


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean of positive numbers."""
    return exp(sum(map(log, values)) / len(values))


def print_costs(found: Sequence[Told]) -> None:
    """Tables 5.1 to 5.3."""
    print("| program | paths, test | train | search, s | with calls | look-up, ns ", end="")
    print("| stack, times | with calls |\n|---|---|---|---|---|---|---|---|")
    for one in found:
        search = " | ".join(f"{seconds:.1f}" for seconds in one.search_s)
        growth = " | ".join(f"{resizing.growth_ratio:.2f}" for resizing in one.resizings)
        print(
            f"| {one.name} | {one.test_paths:,} | {one.train_paths:,} | {search} "
            f"| {one.lookup_ns:.0f} | {growth} |"
        )


def print_shares(found: Sequence[Told], kind: int) -> None:
    """Figures 5.2 and 5.7 to 5.12, for one of `KINDS`."""
    print(
        f"\n{KINDS[kind]}:\n\n| program | offline: resolved | at most 5 | online: resolved ", end=""
    )
    print("| ambiguous | wrong | missing | at most 5 |\n|---|---|---|---|---|---|---|---|")
    for one in found:
        print(f"| {one.name} | {' | '.join(map(percent, shares(one, kind)))} |")
    print(f"| mean | {' | '.join(map(percent, means(found, kind)))} |")


def shares(one: Told, kind: int) -> tuple[float, ...]:
    """Of paths, as `print_shares` has them; online of those that are not missing or wrong, too."""
    offline, online = one.checks[kind].offline.paths, one.checks[kind].online
    assert online is not None
    paths = online.paths
    known = paths.resolved + paths.ambiguous
    return (
        offline.resolved,
        offline.by_candidates[_FIVE],
        paths.resolved,
        paths.ambiguous,
        paths.wrong,
        paths.missing,
        paths.by_candidates[_FIVE] / known if known else 1.0,
    )


def means(found: Sequence[Told], kind: int) -> tuple[float, ...]:
    """Means over programs of `shares`."""
    columns = zip(*(shares(one, kind) for one in found), strict=True)
    return tuple(sum(column) / len(found) for column in columns)


def verdict(found: Sequence[Told]) -> list[str]:
    """What of that which is asked does not hold."""
    offline, five, online, _, wrong, _, _ = means(found, len(KINDS) - 1)
    growth = geometric_mean([one.resizings[-1].growth_ratio for one in found])
    print(f"\ngrowth of the stack {growth:.2f} times (geometric mean)")
    asked = {
        "offline": offline >= LEAST_OFFLINE,
        "at most 5 candidates": five >= LEAST_FIVE,
        "online": online >= LEAST_ONLINE,
        "wrong": wrong < MOST_WRONG,
        "growth": growth <= MOST_GROWTH,
    }
    return [name for name, holds in asked.items() if not holds]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder")
    parser.add_argument("--budget", type=float, default=BUDGET_RATIO)
    parser.add_argument("--goal", type=float, default=GOAL)
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    given = parser.parse_args(arguments)
    found: list[Told] = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in given.programs:
            try:
                found.append(told(name, given.folder or temporary, given.budget, given.goal))
            except (SteelyardError, subprocess.SubprocessError) as error:
                print(f"{name} is left out: {str(error).splitlines()[0][:200]}", flush=True)
    if not found:
        return 1
    print_costs(found)
    for kind in range(len(KINDS)):
        print_shares(found, kind)
    missed = verdict(found)
    print(f"DOES NOT HOLD: {', '.join(missed)}" if missed else "holds")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
