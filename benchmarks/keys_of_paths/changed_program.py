"""Measure one program: its maps, what is searched, and the program that is changed by it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from statistics import median

from benchmarks.keys_of_paths.key_record import KINDS, KeyRecord, Rules, SampleShares, Shares
from benchmarks.path_learning import ROUNDS, Run, run_of
from benchmarks.path_samples import lookup_ns
from steelyard.analysis.paths.path_check import PathCheck, judged
from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.path_outcomes import Outcomes
from steelyard.analysis.paths.resizing import (
    Resizing,
    ResizingRules,
    calls_learnt,
    resized,
    with_sizes,
)
from steelyard.analysis.paths.separation_outcome import WRAPPER_INSTRUCTIONS
from steelyard.analysis.paths.wrappable_calls import ProgramCalls, wrappable_calls
from steelyard.app.profile.sampled_judging import apart, with_samples
from steelyard.core.errors import SteelyardError
from steelyard.profile.paths.frame_sizes import (
    ProgramFrames,
    read_frames,
    with_larger_frames,
    write_program,
)
from steelyard.profile.paths.learning_run import Surroundings
from steelyard.profile.paths.map_file import read_map
from steelyard.profile.paths.wrapped_program import read_calls, with_wrappers
from steelyard.suite.known_recipes import RecipeRegistry

MOST_LEARNING_S = 1800
MOST_PATHS = 1_000_000
# Wanted: wrapping takes no more of the instructions than this.
MOST_MORE = 0.003
# So often calls are chosen anew where the program that was written takes more.
_PRICE_TRIES = 4
# Programs that draw something by the clock or by an address are counted so often, for a median.
_COUNTS = 5
_SAME_COUNT = 1e-5
# As in the thesis, section 5.8.1.2, setups differ in the size of the environment.
_MOST_ENVIRONMENT_BYTES = 4096
# What takes many runs, or callgrind, is measured of this input.
_PRICED = "test"
STEELYARD = (sys.executable, "-m", "steelyard.cli.main", "profile")


def measured(name: str, folder: str, rules: Rules) -> KeyRecord:
    """Learn, judge, change the program, and learn and judge that.

    Raises
    ------
    SteelyardError, subprocess.SubprocessError, OSError
        It cannot be built, watched, changed or run.
    """
    maps = tuple(learnt_map(name, size, folder) for size in (rules.learnt, rules.judged))
    if max(len(path_map.nodes) for path_map in maps) > MOST_PATHS:
        raise SteelyardError(f"more than {MOST_PATHS:,} paths")
    found = _changed(name, folder, maps[0], rules)
    sized = found.resizings[0].frame_bytes
    checks = (
        judged(maps[0], maps[1]),
        judged(found.resizings[0].path_map, with_sizes(maps[1], sized, {})),
        judged_program(name, folder, found.paths[1], rules),
    )
    return _record(name, folder, rules, maps, found, checks)


@dataclass(frozen=True)
class _Tried:
    """A search, its seconds, and how many times as many instructions its program takes."""

    resizing: Resizing
    search_s: float
    ratio: float


@dataclass(frozen=True)
class _Changed:
    """Programs with larger frames, without and with wrapped calls, and what they cost."""

    resizings: tuple[Resizing, ...]
    paths: tuple[str, ...]
    search_s: tuple[float, ...]
    instruction_ratios: tuple[float, ...]


def _changed(name: str, folder: str, learnt: PathMap, rules: Rules) -> _Changed:
    run = run_of(name, _PRICED)
    program = run.argv[0]
    frames, calls = read_frames(program), read_calls(program)
    plain_count = instructions(run)
    wrappable, _ = wrappable_calls(calls, calls_learnt(learnt))
    call_count = learnt_map(name, _PRICED, folder).call_count
    most_wrapped = MOST_MORE * plain_count / (WRAPPER_INSTRUCTIONS * call_count)

    def tried(most: float, wraps: bool, path: str) -> _Tried:
        before = time.process_time()
        searched = ResizingRules(
            1, frames.most_bytes(), wraps, rules.budget_ratio, rules.goal,
            calls=wrappable, most_wrapped_ratio=min(most, 1.0),
        )  # fmt: skip
        found = resized(learnt, searched)
        spent_s = time.process_time() - before
        _write(frames, calls, found, learnt, program, path)
        count = instructions(replace(run, argv=(path, *run.argv[1:])))
        return _Tried(found, spent_s, count / plain_count)

    resizings, search_s, paths, ratios = list[Resizing](), list[float](), list[str](), list[float]()
    for wraps in (False, True):
        paths.append(os.path.join(folder, f"{name}-{'wrapped' if wraps else 'resized'}"))
        one = tried(most_wrapped, wraps, paths[-1])
        for _ in range(_PRICE_TRIES if wraps else 0):
            if one.ratio - 1 <= MOST_MORE:
                break
            # Another input passes them more often than the one that is counted.
            fewer = 0.9 * one.resizing.wrapped_share * MOST_MORE / (one.ratio - 1)
            one = tried(fewer, wraps, paths[-1])
        resizings.append(one.resizing)
        search_s.append(one.search_s)
        ratios.append(one.ratio)
    return _Changed(tuple(resizings), tuple(paths), tuple(search_s), tuple(ratios))


def _write(
    frames: ProgramFrames,
    calls: ProgramCalls,
    found: Resizing,
    learnt: PathMap,
    program: str,
    path: str,
) -> None:
    data = with_larger_frames(frames, found.frame_bytes)
    if found.call_bytes:
        data = with_wrappers(bytes(data), calls, found.call_bytes, learnt.functions)
    write_program(data, program, path)


def _record(
    name: str,
    folder: str,
    rules: Rules,
    maps: Sequence[PathMap],
    found: _Changed,
    checks: Sequence[PathCheck],
) -> KeyRecord:
    plain_run = run_of(name, _PRICED)
    plain_s, learning_ratio = learning_cost(plain_run, folder, name)
    changed_map = map_path(name, rules.learnt, folder, True)
    times = collecting_times(plain_run, found.paths[1], changed_map, rules.setup_count, name)
    highest = [max(node.height_bytes for node in one.nodes) for one in (maps[0], checks[2].learnt)]
    online = checks[0].online
    assert online is not None
    return KeyRecord(
        name=name,
        language="C++" if "c++" in RecipeRegistry().get(name).languages else "C",
        build=maps[0].build,
        rules=rules,
        path_counts=(checks[0].offline.path_count, online.path_count),
        learning_ratio=learning_ratio,
        plain_s=plain_s,
        lookup_ns=lookup_ns(maps[0]),
        search_s=found.search_s,
        growth_ratios=tuple(one.growth_ratio for one in found.resizings),
        learnt_growth_ratio=highest[1] / highest[0],
        instruction_ratios=found.instruction_ratios,
        wrapped_share=found.resizings[1].wrapped_share,
        shares=dict(zip(KINDS, map(_scenarios, checks), strict=True)),
        samples=_samples(checks[2]),
        plain_run_s=tuple(plain for plain, _ in times),
        sampled_run_s=tuple(sampled for _, sampled in times),
    )


def _scenarios(check: PathCheck) -> dict[str, Shares]:
    assert check.online is not None
    return {"offline": _shares(check.offline.paths), "online": _shares(check.online.paths)}


def _shares(found: Outcomes) -> Shares:
    return Shares(found.resolved, found.ambiguous, found.wrong, found.missing, found.by_count)


def _samples(check: PathCheck) -> SampleShares:
    found = check.samples
    assert found is not None
    shares = _shares(found.outcomes)
    return SampleShares(found.sample_count, found.keyless_count, found.unlearnt_count, shares)


def map_path(name: str, size: str, folder: str, is_changed: bool) -> str:
    """Where the map of an input is."""
    return os.path.join(folder, f"{name}-{size}{'-changed' if is_changed else ''}.paths")


def learnt_map(name: str, size: str, folder: str, program: str | None = None) -> PathMap:
    """The map of an input, learnt where it is not there yet.

    `program` is run in the place of that of the suite, whose maps have other names.

    Raises
    ------
    SteelyardError
        No map was made.
    """
    run, path = run_of(name, size), map_path(name, size, folder, program is not None)
    run = run if program is None else replace(run, argv=(program, *run.argv[1:]))
    if not os.path.exists(path):
        learning = (*STEELYARD, "paths", "learn", "-o", path, "--program", run.argv[0], "--")
        with open(run.stdin, "rb") as stdin:
            done = subprocess.run(
                [*learning, *run.argv],
                cwd=run.directory,
                stdin=stdin,
                capture_output=True,
                check=False,
                timeout=MOST_LEARNING_S,
            )
        # Solvers say by their status what they found.
        if not os.path.exists(path):
            raise SteelyardError(done.stderr.decode(errors="replace") or "no map was made")
    return read_map(path)


def judged_program(name: str, folder: str, changed: str, rules: Rules) -> PathCheck:
    """What a changed program's own maps say, of paths, calls and samples."""
    sizes = (rules.learnt, rules.judged)
    for size in sizes:
        with suppress(FileNotFoundError):
            os.unlink(map_path(name, size, folder, True))
    learnt, taken = (learnt_map(name, size, folder, changed) for size in sizes)
    run = run_of(name, rules.judged)
    command = apart((changed, *run.argv[1:]), Surroundings(run.directory, run.stdin))
    return with_samples(judged(learnt, taken), taken, command, changed)


def instructions(run: Run) -> int:
    """Instructions of a run, by callgrind; the median of some runs where two differ.

    Raises
    ------
    SteelyardError
        callgrind counted nothing.
    """
    counts = [_counted(run), _counted(run)]
    if max(counts) - min(counts) > _SAME_COUNT * min(counts):
        counts += [_counted(run) for _ in range(_COUNTS - len(counts))]
    return round(median(counts))


def _counted(run: Run) -> int:
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
    counts = re.findall(r"Collected : (\d+)", done.stderr)
    if not counts:
        raise SteelyardError(f"callgrind counted nothing: {done.stderr[-200:]}")
    return int(counts[-1])


def learning_cost(run: Run, folder: str, name: str) -> tuple[float, float]:
    """Processor time of a plain run, and of learning as a multiple of it; medians of a few."""
    path = os.path.join(folder, f"{name}-cost.paths")
    learning = (*STEELYARD, "paths", "learn", "-o", path, "--program", run.argv[0], "--")
    pairs = [(run.seconds(), run.seconds(learning)) for _ in range(ROUNDS)]
    os.unlink(path)
    plain, slowed = (median(column) for column in zip(*pairs, strict=True))
    return plain, slowed / plain if plain else 1.0


def collecting_times(
    run: Run, changed: str, path_map: str, setup_count: int, seed: str
) -> list[tuple[float, float]]:
    """Processor time of a program as it is, and changed while its keys are recorded, by setups."""
    draw, times = Random(f"{seed} setups"), list[tuple[float, float]]()
    profile = f"{changed}.profile"
    recording = (*STEELYARD, "record", "--paths", path_map, "-o", profile, "--")
    sampled = replace(run, argv=(changed, *run.argv[1:]))
    for _ in range(setup_count):
        padding = {"STEELYARD_PADDING": "x" * draw.randrange(_MOST_ENVIRONMENT_BYTES)}
        ways = [(run, ()), (sampled, recording)]
        order = draw.sample((0, 1), 2)
        taken = {way: ways[way][0].seconds(ways[way][1], padding) for way in order}
        times.append((taken[0], taken[1]))
    with suppress(FileNotFoundError):
        os.unlink(profile)
    return times
