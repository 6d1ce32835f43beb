"""What call sites in call paths cost: more paths, fewer keys that tell theirs, and more time.

    python -m benchmarks.call_sites [--size test] [PROGRAM ...]

Programs of the suite in C and C++, built by gcc -O2. The paths of each are learnt without and with
`--call-sites`, by turns, and judged by themselves (offline, Mytkowicz 2010, section 5.7.1). Times
are of the processor.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.path_learning import Run, run_of
from steelyard.analysis.paths.path_check import candidates_by_key, judged
from steelyard.analysis.paths.path_map import PathNumbers
from steelyard.analysis.paths.path_outcomes import ScenarioOutcomes
from steelyard.core.errors import SteelyardError
from steelyard.profile.paths.map_file import read_map

PROGRAMS = (
    "brotli", "bzip2", "duktape", "json", "lua", "lz4", "minisat", "sqlite", "tidy", "xz", "zopfli",
    "zstd",
)  # fmt: skip
ROUNDS = 3
_SITES = "--call-sites"


@dataclass(frozen=True)
class Learnt:
    """A program's paths without or with call sites."""

    seconds: float
    site_count: int
    offline: ScenarioOutcomes
    resolved_keys: int


def learnt(run: Run, path_map: str, options: Sequence[str]) -> float:
    """Learn its paths into a new map; the processor time of the program meanwhile."""
    if os.path.exists(path_map):
        os.unlink(path_map)
    learning = (
        *(sys.executable, "-m", "steelyard.cli.main", "profile", "paths", "learn"),
        *("-o", path_map, "--program", run.argv[0], *options, "--"),
    )
    return run.seconds(learning)


def judged_map(path: str, seconds: float) -> Learnt:
    """What a map resolves of its own paths and keys."""
    path_map = read_map(path)
    by_key = candidates_by_key(path_map, PathNumbers().of(path_map.nodes))
    resolved = sum(len(paths) == 1 for paths in by_key.values())
    return Learnt(seconds, len(path_map.call_sites or ()), judged(path_map).offline, resolved)


def both(name: str, size: str) -> tuple[Learnt, Learnt]:
    """A program's paths without call sites, and with them."""
    run = run_of(name, size)
    with tempfile.TemporaryDirectory() as folder:
        maps = [os.path.join(folder, kind) for kind in ("plain", "sites")]
        options: tuple[tuple[str, ...], ...] = ((), (_SITES,))
        turns = [
            [learnt(run, path, more) for path, more in zip(maps, options, strict=True)]
            for _ in range(ROUNDS)
        ]
        times = [median(column) for column in zip(*turns, strict=True)]
        plain, sites = (judged_map(*one) for one in zip(maps, times, strict=True))
    return plain, sites


def row(name: str, plain: Learnt, sites: Learnt) -> str:
    """A row of the table."""
    before, after = plain.offline, sites.offline
    return (
        f"| {name} | {before.path_count:,} | {after.path_count:,} "
        f"| {after.path_count / before.path_count:.2f} | {sites.site_count:,} "
        f"| {before.key_count:,} | {plain.resolved_keys:,} | {sites.resolved_keys:,} "
        f"| {100 * before.paths.resolved:.1f} % | {100 * after.paths.resolved:.1f} % "
        f"| {100 * before.calls.resolved:.1f} % | {100 * after.calls.resolved:.1f} % "
        f"| {plain.seconds:.2f} | {sites.seconds / plain.seconds:.2f} |"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="test")
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    given = parser.parse_args(arguments)
    print(
        "| program | paths | with call sites | times | call sites | keys | resolved | with call "
        "sites | paths resolved | with call sites | calls resolved | with call sites | learning, s "
        "| with call sites, times |"
    )
    print("|---" * 14 + "|")
    failed = 0
    for name in given.programs:
        try:
            print(row(name, *both(name, given.size)), flush=True)
        except (SteelyardError, subprocess.CalledProcessError) as error:
            print(f"| {name} | {str(error).splitlines()[0]} |", flush=True)
            failed += 1
    return int(failed == len(given.programs))


if __name__ == "__main__":
    sys.exit(main())
