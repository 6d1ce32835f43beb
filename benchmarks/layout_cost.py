"""What does moving cost? Time, memory, size and start of programs, by part, in one table.

Programs of the suite, and some of Debian that are not in it, are built by plain clang-19 and by
`steelyard cc`. One moving program serves every treatment. Each block runs the plain program and
every treatment once, in random order. Times are user and system time; a ratio is that of the means
over blocks, with Fieller's interval; `least` is that of the least times, which other processes on
the machine disturb less. Memory is the largest resident set, at the median. *Start* is the time of
a run that a preloaded library ends before the program's own constructors.

    python -m benchmarks.layout_cost --runs 10 FOLDER [PROGRAM...]

FOLDER keeps what was fetched, built and measured (`costs-SIZE.json`): what is there is not done
again, so that a command which was ended can be given again. `--build` builds and measures nothing;
`--at-most 600` begins with no further program after so many seconds.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.layout_cost_programs import OTHERS, SOURCES, build, write_inputs
from benchmarks.layout_trials import DRIVER, STEELYARD
from steelyard.analysis.intervals.fieller import paired_fieller
from steelyard.app.suite.suite_name import SuiteName
from steelyard.app.suite.suite_program import Workshop
from steelyard.core.errors import SteelyardError
from steelyard.core.estimate import Unbounded
from steelyard.suite.known_recipes import RecipeRegistry
from steelyard.suite.suite_compilers import Toolchain

SUITE = (
    *("json", "libxml2", "duktape", "lua", "tcc", "libquantum", "hmmer2", "glpk", "sqlite"),
    *("nauty", "zopfli", "picosat", "brotli", "minisat", "bzip2", "fasttree", "tinyscheme"),
    *("zstd", "lz4", "box2d", "xz"),
)
TREATMENTS = {
    "none": "none",
    "code": "code",
    "stack": "stack",
    "heap": "heap",
    "all": "code,stack,heap",
}
LARGE_BYTES = 50 << 20
MIB = 1 << 20
START_RUNS = 30
# Above it are those of shells for signals and for programs that cannot be run, and the runtime's.
LARGEST_STATUS = 100


@dataclass(frozen=True)
class Run:
    """How a program is started."""

    argv: tuple[str, ...]
    stdin: str = os.devnull
    directory: str | None = None
    environment: tuple[tuple[str, str | None], ...] = ()  # changes; None removes a variable

    def variables(self, more: dict[str, str]) -> dict[str, str]:
        """Its environment, with `more`."""
        changed = dict(self.environment)
        kept = {name: value for name, value in os.environ.items() if name not in changed}
        set_here = {name: value for name, value in changed.items() if value is not None}
        return {**kept, **set_here, **more}


@dataclass
class Cost:
    """What was measured of one program: values of each treatment, in the order of the blocks."""

    size_bytes: dict[str, int] = field(default_factory=dict)
    cpu_s: dict[str, list[float]] = field(default_factory=dict)
    rss_bytes: dict[str, list[int]] = field(default_factory=dict)
    start_s: dict[str, list[float]] = field(default_factory=dict)


def suite_program(name: str, size: str) -> tuple[Run, Run]:
    """A program of the suite, plain and moving."""
    found = []
    for tools in (Toolchain(cc="clang-19", flags="-O2"), Toolchain(cc=DRIVER, flags="-O2")):
        asked = SuiteName(name, tools, size)
        launch = Workshop().ready(RecipeRegistry().get(name), asked).variant.launch
        stdin = launch.stdin_file or os.devnull
        found.append(Run(launch.argv, stdin, launch.working_directory, launch.environment))
    return found[0], found[1]


def other_program(name: str, folder: Path) -> tuple[Run, Run]:
    """A program outside the suite, plain and moving."""
    inputs = folder / "inputs"
    if not inputs.exists():
        inputs.mkdir(parents=True)
        write_inputs(inputs)
    other = OTHERS[name]
    found = []
    for kind, compilers in (("plain", ("clang-19", "clang++-19")), ("moving", drivers(folder))):
        variables = {"CC": compilers[0], "CXX": compilers[1]}
        program = build(name, folder / "sources", folder / kind, variables)
        argv = (str(program), *(word.replace("{input}", str(inputs)) for word in other.argv))
        stdin = str(inputs / other.stdin)  # an absolute path stays what it is
        found.append(Run(argv, stdin, str(folder)))
    return found[0], found[1]


def drivers(folder: Path) -> tuple[str, str]:
    """The compiler drivers as files of their own: a `configure` takes no command of two words."""
    found = []
    for language in ("cc", "c++"):
        driver = folder / f"moving-{language}"
        driver.write_text(f'#!/bin/sh\nexec {STEELYARD} {language} "$@"\n')
        driver.chmod(0o755)
        found.append(str(driver))
    return found[0], found[1]


@dataclass(frozen=True)
class Tools:
    """What measures: a program that runs another one, and a library that ends it at its start."""

    spend: Path
    leave: Path


def make_tools(folder: Path) -> Tools:
    """Both, compiled into `folder`."""
    compiler = shutil.which("clang-19") or "cc"
    tools = Tools(folder / "spend", folder / "leave.so")
    subprocess.run([compiler, "-O2", SOURCES / "spend.c", "-o", tools.spend], check=True)
    library = (compiler, "-shared", "-fPIC", SOURCES / "leave.c", "-o", tools.leave)
    subprocess.run(library, check=True)
    return tools


def spend(tools: Tools, run: Run, variables: dict[str, str]) -> tuple[float, int]:
    """User and system time of one run in seconds, and its largest resident set in bytes.

    Raises
    ------
    RuntimeError
        It ended by a signal, or as a program does that lacks something.
    """
    with open(run.stdin, "rb") as stdin:
        done = subprocess.run(
            [tools.spend, *run.argv],
            cwd=run.directory,
            stdin=stdin,
            capture_output=True,
            text=True,
            env=run.variables(variables),
            check=True,
        )
    spent_us, rss_kib, status = map(int, done.stdout.split())
    if status > LARGEST_STATUS:
        raise RuntimeError(f"{' '.join(run.argv)} ended with {status}")
    return spent_us / 1e6, rss_kib * 1024


def measure(plain: Run, moving: Run, runs: int, tools: Tools) -> Cost:
    """Blocks of runs, then blocks of starts."""
    cost = Cost()
    for kind, run in (("plain", plain), ("moving", moving)):
        cost.size_bytes[kind] = os.path.getsize(run.argv[0])
    draw = random.Random(runs)
    treatments = {"plain": (plain, "none")}
    treatments |= {name: (moving, parts) for name, parts in TREATMENTS.items()}
    for _ in range(runs):
        for name in draw.sample(list(treatments), len(treatments)):
            run, parts = treatments[name]
            spent_s, rss_bytes = spend(tools, run, {"STEELYARD_LAYOUT": parts})
            cost.cpu_s.setdefault(name, []).append(spent_s)
            cost.rss_bytes.setdefault(name, []).append(rss_bytes)
    for _ in range(START_RUNS):
        for name in draw.sample(["plain", "none", "all"], 3):
            run, parts = treatments[name]
            variables = {"STEELYARD_LAYOUT": parts, "SPEND_PRELOAD": str(tools.leave)}
            cost.start_s.setdefault(name, []).append(spend(tools, run, variables)[0])
    return cost


def ratio_cell(cost: Cost, treatment: str) -> str:
    """The ratio of the means with half of its interval, for a table."""
    found = paired_fieller(cost.cpu_s["plain"], cost.cpu_s[treatment], 0.95)
    if isinstance(found, Unbounded):
        return "?"
    return f"{found.estimate:.2f} ± {(found.high - found.low) / 2:.2f}"


def mean_ratio(cost: Cost, treatment: str) -> float:
    """The mean of a treatment over that of the plain program."""
    return sum(cost.cpu_s[treatment]) / sum(cost.cpu_s["plain"])


def least_ratio(cost: Cost, treatment: str) -> float:
    """The least time of a treatment over that of the plain program."""
    return min(cost.cpu_s[treatment]) / min(cost.cpu_s["plain"])


def memory(cost: Cost) -> tuple[float, float]:
    """The largest resident set of the plain program, and what moving adds to it, in bytes."""
    plain_bytes = median(cost.rss_bytes["plain"])
    return plain_bytes, median(cost.rss_bytes["all"]) - plain_bytes


def start_ms(cost: Cost, treatment: str) -> float:
    """The time of a start in milliseconds."""
    return 1000 * median(cost.start_s[treatment])


def memory_holds(cost: Cost) -> bool:
    """Whether it is within 1.3 for large programs, 8 MiB for others."""
    plain_bytes, more_bytes = memory(cost)
    return more_bytes <= (0.3 * plain_bytes if plain_bytes > LARGE_BYTES else 8 * MIB)


def print_table(costs: dict[str, Cost]) -> None:
    """A line a program, then the median and the largest of each part."""
    head = ["program", "time, s", *TREATMENTS, "all, least"]
    head += ["memory, MiB", "more", "file, KiB", "moving", "start, ms", "none", "moving"]
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for name, cost in costs.items():
        plain_bytes, more_bytes = memory(cost)
        cells = [name, f"{median(cost.cpu_s['plain']):.2f}"]
        cells += [ratio_cell(cost, treatment) for treatment in TREATMENTS]
        cells += [f"{least_ratio(cost, 'all'):.2f}", f"{plain_bytes / MIB:.1f}"]
        more = f"+{more_bytes / MIB:.1f}"
        cells.append(more if memory_holds(cost) else f"**{more}**")
        cells += [f"{cost.size_bytes[kind] // 1024}" for kind in ("plain", "moving")]
        cells += [f"{start_ms(cost, kind):.2f}" for kind in ("plain", "none", "all")]
        print("| " + " | ".join(cells) + " |")
    for word, choose in (("median", median), ("largest", max)):
        cells = [f"**{word}**", ""]
        cells += [
            f"{choose(mean_ratio(c, each) for c in costs.values()):.3f}" for each in TREATMENTS
        ]
        cells.append(f"{choose(least_ratio(c, 'all') for c in costs.values()):.3f}")
        print("| " + " | ".join(cells) + " |")
    beyond = [name for name, cost in costs.items() if not memory_holds(cost)]
    print(f"\nMemory beyond what is wanted: {', '.join(beyond) or 'none'}.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not measured yet, and print the table of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--size", default="test", help="of the suite's inputs")
    parser.add_argument("--build", action="store_true", help="measure nothing")
    parser.add_argument("--at-most", type=float, default=math.inf, metavar="SECONDS")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"costs-{options.size}.json"
    costs: dict[str, Cost] = {}
    if file.exists():
        costs = {name: Cost(**cost) for name, cost in json.loads(file.read_text()).items()}
    wanted = options.programs or [*OTHERS, *SUITE]
    complete = measure_missing(wanted, costs, file, options)
    shown = {name: costs[name] for name in wanted if name in costs}
    if shown:
        print_table(shown)
    return 0 if complete else 1


def measure_missing(
    wanted: Sequence[str], costs: dict[str, Cost], file: Path, options: argparse.Namespace
) -> bool:
    """Add what `costs` lacks, and write it to `file` after each program; whether none is left."""
    until_s = time.monotonic() + options.at_most
    with tempfile.TemporaryDirectory() as place:
        tools = make_tools(Path(place))
        for name in wanted:
            if name in costs or time.monotonic() > until_s:
                continue
            try:
                found = other_program(name, file.parent) if name in OTHERS else None
                plain, moving = found or suite_program(name, options.size)
                if options.build:
                    continue
                costs[name] = measure(plain, moving, options.runs, tools)
            except (RuntimeError, SteelyardError) as error:
                print(error, file=sys.stderr)
                continue
            file.write_text(json.dumps({each: asdict(cost) for each, cost in costs.items()}))
            print(name, f"{mean_ratio(costs[name], 'all'):.3f}", file=sys.stderr, flush=True)
    return all(name in costs for name in wanted)


if __name__ == "__main__":
    sys.exit(main())
