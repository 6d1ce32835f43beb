"""How many call paths heights of the stack tell: as it is, with larger frames, and with wrappers.

    python -m benchmarks.keys_of_paths [--folder FOLDER] [--budget RATIO] [--goal SHARE] [NAME ...]

Programs of the suite in C and C++, built by gcc -O2, as in Mytkowicz 2010, tables 5.1 to 5.3 and
figures 5.2 and 5.7 to 5.12. Paths are learnt of the input `test`; offline they are judged by
themselves, online by those of the input `train`, and by samples of it. Frames are made larger where
they can grow in the finished program, and calls wrapped where they can be; that program is written,
and its own paths are learnt and judged. Instructions are counted by callgrind (`test`): they bound
how often wrappers are passed. Maps that are in FOLDER are used again.
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
from contextlib import suppress
from dataclasses import dataclass, replace
from math import exp, log
from random import Random

from benchmarks.path_learning import PROGRAMS, Run, run_of
from steelyard.analysis.paths.path_check import CANDIDATE_LIMITS, PathCheck, judged
from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.resizing import (
    BUDGET_RATIO,
    Resizing,
    ResizingRules,
    calls_learnt,
    resized,
    with_sizes,
)
from steelyard.analysis.paths.separation_search import GOAL
from steelyard.analysis.paths.wrappable_calls import wrappable_calls
from steelyard.app.profile.sampled_judging import apart, with_samples
from steelyard.core.errors import SteelyardError
from steelyard.profile.paths.frame_sizes import read_frames, with_larger_frames, write_program
from steelyard.profile.paths.learning_run import Surroundings
from steelyard.profile.paths.map_file import read_map
from steelyard.profile.paths.wrapped_program import read_calls, with_wrappers

MOST_LEARNING_S = 300
MOST_PATHS = 300_000
LOOKUPS = 200_000
_FIVE = CANDIDATE_LIMITS.index(5)
# What is asked of means over programs, after resizing and wrapping.
LEAST_OFFLINE, LEAST_ONLINE, LEAST_FIVE, MOST_WRONG, MOST_GROWTH = 0.97, 0.85, 0.99, 0.01, 1.13
LEAST_SAMPLES, MOST_MORE = 0.97, 0.003
_WRAPPER_INSTRUCTIONS = 4
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
    more_instructions: float
    wrapped_share: float


def learnt_map(
    name: str, size: str, folder: str, program: str | None = None
) -> tuple[PathMap, str]:
    """The map of an input, learnt where it is not there yet, and the program.

    `program` is run in the place of that of the suite, whose maps have other names.
    """
    run = run_of(name, size)
    path = os.path.join(folder, f"{name}-{size}{'-changed' if program else ''}.paths")
    run = run if program is None else replace(run, argv=(program, *run.argv[1:]))
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
    frames, calls = read_frames(program), read_calls(program)
    run = run_of(name, "test")
    before_count = instructions(run)
    most_wrapped = MOST_MORE * before_count / (_WRAPPER_INSTRUCTIONS * test.call_count)
    wrappable, _ = wrappable_calls(calls, calls_learnt(test))
    checks, resizings, search_s = [judged(test, train)], list[Resizing](), list[float]()
    for wraps in (False, True):
        before = time.process_time()
        rules = ResizingRules(1, frames.most_bytes(), wraps, budget, goal)
        rules = replace(rules, calls=wrappable, most_wrapped_ratio=min(most_wrapped, 1))
        found = resized(test, rules)
        search_s.append(time.process_time() - before)
        resizings.append(found)
    sizes = resizings[0].frame_bytes
    checks.append(judged(resizings[0].path_map, with_sizes(train, sizes, {})))
    changed = os.path.join(folder, f"{name}-changed")
    data = with_larger_frames(frames, found.frame_bytes)
    data = with_wrappers(bytes(data), calls, found.call_bytes, test.functions)
    write_program(data, program, changed)
    more = instructions(replace(run, argv=(changed, *run.argv[1:]))) / before_count - 1
    checks.append(judged_program(name, folder, changed))
    online = checks[0].online
    return Told(
        name,
        checks[0].offline.path_count,
        0 if online is None else online.path_count,
        tuple(checks),
        tuple(resizings),
        tuple(search_s),
        lookup_ns(test),
        more,
        found.wrapped_share,
    )


def judged_program(name: str, folder: str, changed: str) -> PathCheck:
    """What a changed program's own maps say, of paths, calls and samples."""
    for size in ("test", "train"):
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, f"{name}-{size}-changed.paths"))
    learnt, taken = (learnt_map(name, size, folder, changed)[0] for size in ("test", "train"))
    run = run_of(name, "train")
    command = apart((changed, *run.argv[1:]), Surroundings(run.directory, run.stdin))
    return with_samples(judged(learnt, taken), taken, command, changed)


def instructions(run: Run) -> int:
    """Instructions of a run, by callgrind."""
    counting = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
    with open(run.stdin, "rb") as stdin:
        done = subprocess.run(
            [*counting, *run.argv],
            cwd=run.directory,
            stdin=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    return int(re.findall(r"Collected : (\d+)", done.stderr)[-1])


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
    print("| stack, times | with calls | calls that pass a wrapper | more instructions |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for one in found:
        search = " | ".join(f"{seconds:.1f}" for seconds in one.search_s)
        growth = " | ".join(f"{resizing.growth_ratio:.2f}" for resizing in one.resizings)
        print(
            f"| {one.name} | {one.test_paths:,} | {one.train_paths:,} | {search} "
            f"| {one.lookup_ns:.0f} | {growth} | {percent(one.wrapped_share)} "
            f"| {100 * one.more_instructions:.4f} % |"
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


def print_samples(found: Sequence[Told]) -> list[float]:
    """Of the samples of changed programs, online; the parts that are resolved."""
    print("\nsamples, resized, wrapped:\n\n| program | samples | without a key | resolved ", end="")
    print("| ambiguous | wrong | missing |\n|---|---|---|---|---|---|---|")
    resolved: list[float] = []
    for one in found:
        samples = one.checks[-1].samples
        assert samples is not None
        outcomes = samples.outcomes
        resolved.append(outcomes.resolved)
        parts = (outcomes.resolved, outcomes.ambiguous, outcomes.wrong, outcomes.missing)
        print(
            f"| {one.name} | {samples.sample_count:,} "
            f"| {samples.keyless_count + samples.unlearnt_count:,} "
            f"| {' | '.join(map(percent, parts))} |"
        )
    return resolved


def verdict(found: Sequence[Told]) -> list[str]:
    """What of that which is asked does not hold."""
    offline, five, online, _, wrong, _, _ = means(found, len(KINDS) - 1)
    growth = geometric_mean([one.resizings[-1].growth_ratio for one in found])
    samples = print_samples(found)
    of_samples = sum(samples) / len(samples)
    more = max(one.more_instructions for one in found)
    print(f"\ngrowth of the stack {growth:.2f} times (geometric mean)")
    print(f"samples resolved {percent(of_samples)}; more instructions {100 * more:.3f} % at most")
    asked = {
        "offline": offline >= LEAST_OFFLINE,
        "at most 5 candidates": five >= LEAST_FIVE,
        "online": online >= LEAST_ONLINE,
        "wrong": wrong < MOST_WRONG,
        "growth": growth <= MOST_GROWTH,
        "samples": of_samples >= LEAST_SAMPLES,
        "instructions": more <= MOST_MORE,
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
