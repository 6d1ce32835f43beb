"""What learning call paths costs, and how many keys tell their path with nothing done to programs.

    python -m benchmarks.path_learning [--size test] [PROGRAM ...]

Programs of the suite in C and C++, built by gcc -O2. Each is run plainly and while
`steelyard profile paths learn` notes its paths, by turns; their processor times are compared. The
map is judged by the paths that it was learnt of (offline, Mytkowicz 2010, table 5.1).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median

from steelyard.analysis.paths.path_outcomes import ScenarioOutcomes
from steelyard.app.profile.path_judging import judge_map
from steelyard.app.suite.suite_name import SuiteName
from steelyard.app.suite.suite_program import Workshop
from steelyard.core.errors import SteelyardError
from steelyard.suite.known_recipes import RecipeRegistry
from steelyard.suite.suite_compilers import Toolchain

PROGRAMS = (
    "box2d", "brotli", "bzip2", "cadical", "duktape", "fasttree", "glpk", "gnugo", "hmmer2", "json",
    "libquantum", "libxml2", "lua", "lz4", "minimap2", "minisat", "nauty", "picosat", "sqlite",
    "tcc", "tidy", "tinyscheme", "voro", "xz", "zopfli", "zstd",
)  # fmt: skip
ROUNDS = 3
MOST_TIMES = 2.0
# Shorter runs are mostly their start: they are shown, and are not in the means.
LEAST_S = 0.05
# The shell says at its end what its children took; what the program prints goes nowhere.
_TIMED = ("bash", "-c", 'exec 3>&1; "$@" >/dev/null 2>&1; times >&3', "bash")

_SPENT = re.compile(r"^(\d+)m([\d.]+)s (\d+)m([\d.]+)s$", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """How a program of the suite is started."""

    argv: tuple[str, ...]
    stdin: str
    directory: str | None

    def seconds(self, before: Sequence[str] = (), more: Mapping[str, str] | None = None) -> float:
        """The processor time of the program, started by a command that stands before it, with
        more of the environment."""
        call, environment = [*before, *_TIMED, *self.argv], {**os.environ, **(more or {})}
        with open(self.stdin, "rb") as stdin:
            done = subprocess.run(
                call,
                cwd=self.directory,
                stdin=stdin,
                capture_output=True,
                text=True,
                check=True,
                env=environment,
            )
        spent = _SPENT.findall(done.stdout)[-1]
        return sum(60 * float(part) + float(rest) for part, rest in (spent[:2], spent[2:]))


@dataclass(frozen=True)
class Learnt:
    """What came of one program."""

    name: str
    plain_s: float
    times: float
    paths: int
    offline: ScenarioOutcomes


def run_of(name: str, size: str) -> Run:
    """The program, built where it is not yet."""
    asked = SuiteName(name, Toolchain(cc="gcc", cxx="g++", flags="-O2"), size)
    launch = Workshop().ready(RecipeRegistry().get(name), asked).variant.launch
    return Run(launch.argv, launch.stdin_file or os.devnull, launch.working_directory)


def learnt(name: str, size: str) -> Learnt:
    """Run a program by turns, and judge its map."""
    run = run_of(name, size)
    with tempfile.TemporaryDirectory() as folder:
        path_map = os.path.join(folder, "map")
        learning = (
            *(sys.executable, "-m", "steelyard.cli.main", "profile", "paths", "learn"),
            *("-o", path_map, "--program", run.argv[0], "--"),
        )
        pairs = [(run.seconds(), run.seconds(learning)) for _ in range(ROUNDS)]
        found = judge_map(path_map, None)
    plain, slowed = (median(column) for column in zip(*pairs, strict=True))
    return Learnt(name, plain, slowed / plain, found.offline.path_count, found.offline)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="test")
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    given = parser.parse_args(arguments)
    print("| program | processor s | learning, times | paths | resolved: paths | calls |")
    print("|---|---|---|---|---|---|")
    found: list[Learnt] = []
    for name in given.programs:
        try:
            one = learnt(name, given.size)
        except (SteelyardError, subprocess.CalledProcessError) as error:
            print(f"| {name} | {str(error).splitlines()[0]} | | | | |", flush=True)
            continue
        found.append(one)
        paths, calls = one.offline.paths.resolved, one.offline.calls.resolved
        print(
            f"| {name} | {one.plain_s:.2f} | {one.times:.2f} | {one.paths:,} "
            f"| {100 * paths:.1f} % | {100 * calls:.1f} % |",
            flush=True,
        )
    found = [one for one in found if one.plain_s >= LEAST_S]
    if not found:
        return 1
    mean = exp(sum(log(one.times) for one in found) / len(found))
    shares = sum(one.offline.paths.resolved for one in found) / len(found)
    print(f"\ngeometric mean {mean:.2f} times; of paths {100 * shares:.1f} % on average")
    print("holds" if mean <= MOST_TIMES else "DOES NOT HOLD")
    return int(mean > MOST_TIMES)


if __name__ == "__main__":
    sys.exit(main())
