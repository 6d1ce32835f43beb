"""Whether profilers of Java notice what a delay does, as Tables 3.1 and 3.2 of Mytkowicz.

In each Java program of the suite two hot methods are delayed by six amounts, five runs each, under
our own sampler, the flight recorder, async-profiler and a sampler at safepoints. A slope of 1 is
right. Beside each delayed method the other one is watched, whose slope should be 0; and a program
is run with no delay under six made-up amounts, where no slope may be called.

    .venv/bin/python -m benchmarks.causality_java --seconds 540   # until it says that all is there
    .venv/bin/python -m benchmarks.causality_java --results FOLDER --profiler steelyard-jvm
    .venv/bin/python -m benchmarks.causality_java --table
    .venv/bin/python -m benchmarks.causality_java --listing       # listing 3.1

What is finished is kept in build/causality-java or FOLDER, so that it can be stopped and gone on
with.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.causality import as_json, conditions, in_own_store
from steelyard.analysis.profiles.causality_slopes import (
    Observation,
    Slope,
    causal_slope,
    rest_change,
)
from steelyard.app.profile.pilot_runs import Pilot
from steelyard.app.profile.profiler_causality import CausalCheck, check_profilers, undelayed_runs
from steelyard.app.suite.suite_name import SuiteName
from steelyard.app.suite.suite_program import Workshop
from steelyard.core.errors import SteelyardError
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_spec import LaunchSpec
from steelyard.core.profiled_spec import ProfiledSpec
from steelyard.run.run_experiment import Place
from steelyard.suite.known_recipes import RecipeRegistry
from steelyard.suite.suite_compilers import Toolchain

RESULTS = Path("build/causality-java")
EXAMPLE = Path("examples/profile/YieldPoints.java")
PROFILERS_OF_JAVA = ("steelyard-jvm", "async-profiler", "jfr", "safepoint")
AMOUNT_COUNT, RUN_COUNT = 6, 5
SEED = 1


@dataclass(frozen=True)
class Program:
    """A program of the suite, how many iterations it does in a run, and its two methods."""

    name: str
    iterations: int
    methods: tuple[str, str]


_RHINO, _XALAN = "org.mozilla.javascript", "org.apache.xml"
_H2, _SAXON, _PYTHON = "org.h2.mvstore", "net.sf.saxon", "org.python.core"
PROGRAMS = (
    Program(
        "jvm-rhino", 60, (f"{_RHINO}.EmbeddedSlotMap.query", f"{_RHINO}.ScriptRuntime.toNumeric")
    ),
    Program(
        "jvm-xalan",
        60,
        (
            f"{_XALAN}.dtm.ref.DTMManagerDefault.getDTM",
            f"{_XALAN}.utils.SuballocatedIntVector.elementAt",
        ),
    ),
    Program(
        "jvm-h2",
        40,
        (f"{_H2}.db.RowDataType.compareSearchRows", f"{_H2}.type.LongDataType.binarySearch"),
    ),
    Program("jvm-jython", 40, (f"{_PYTHON}.PyFrame.setlocal", f"{_PYTHON}.PyBaseCode.call")),
    Program(
        "jvm-saxon",
        40,
        (f"{_SAXON}.value.MemoClosure.iterate", f"{_SAXON}.om.MemoSequence.iterate"),
    ),
)
NO_DELAY_PROGRAM = "jvm-rhino"


@dataclass(frozen=True)
class Part:
    """What is run in one go."""

    program: Program
    method: str
    kind: str  # delay, no-delay
    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / f"{self.program.name}-{self.method}-{self.kind}.json"


def parts(folder: Path, methods: Sequence[int] = (1, 2)) -> Iterator[Part]:
    """Every part: the first method of all programs comes before the second."""
    for index in (method - 1 for method in methods):
        for program in PROGRAMS:
            yield Part(program, program.methods[index], "delay", folder)
            if index == 0 and program.name == NO_DELAY_PROGRAM:
                yield Part(program, program.methods[0], "no-delay", folder)


def launch_of(program: Program) -> LaunchSpec:
    """How the program is run, with so many iterations."""
    recipe = RecipeRegistry().get(program.name)
    asked = SuiteName(program.name, Toolchain(), "train")
    launch = Workshop().ready(recipe, asked).variant.launch
    return replace(launch, argv=(*launch.argv[:-1], str(program.iterations)))


def run_part(part: Part, profilers: tuple[str, ...]) -> None:
    """Run a part, and keep what it gave."""
    launch = launch_of(part.program)
    other = next(name for name in part.program.methods if name != part.method)
    check = CausalCheck(
        argv=launch.argv,
        functions=(part.method,),
        controls=(other,),
        profilers=profilers,
        amount_count=AMOUNT_COUNT,
        run_count=RUN_COUNT,
        seed=SEED,
    )
    print(f"{part.path.stem} ...", end=" ", flush=True)
    begin_s = time.monotonic()
    with conditions(launch):
        if part.kind == "no-delay":
            slopes = without_delay(check, part.method)
        else:
            slopes = in_own_store(lambda place: check_profilers(check, place))
    part.path.parent.mkdir(parents=True, exist_ok=True)
    part.path.write_text(json.dumps([as_json(slope) for slope in slopes]))
    print(f"{time.monotonic() - begin_s:.0f} s", flush=True)


def without_delay(check: CausalCheck, method: str) -> tuple[Slope, ...]:
    """The same runs with no delay at all, under amounts that mean nothing."""
    own = replace(check, profilers=("steelyard-jvm",))
    runs = in_own_store(lambda place: undelayed_runs(own, method, place))
    observations = tuple(
        replace(run.of(method), amount=index % AMOUNT_COUNT) for index, run in enumerate(runs)
    )
    what = (method, "steelyard-jvm", "delayed", method, causal_slope(observations))
    return (Slope(*what, AMOUNT_COUNT, len(runs), observations, rest_change(observations)),)


def slope_text(observations: list[list[float]]) -> tuple[str, float | None]:
    """A slope with its interval, or why there is none."""
    seen = [Observation(int(a), x, y, *map(int, b)) for a, x, y, *b in observations]
    slope = causal_slope(seen)
    if isinstance(slope, Estimate):
        return f"{slope.estimate:.2f} ({slope.low:.2f} – {slope.high:.2f})", slope.estimate
    return f"none: {slope.reason}", None


def print_table(folder: Path) -> None:
    """The slopes of all parts that are there, a row a delayed method and watched method."""
    called: dict[tuple[str, str], list[float]] = {}
    print(f"| program | method | role | {' | '.join(PROFILERS_OF_JAVA)} |")
    print("|---" * (3 + len(PROFILERS_OF_JAVA)) + "|")
    for part in parts(folder):
        if not part.path.exists():
            continue
        rows: dict[tuple[str, str], dict[str, str]] = {}
        for kept in json.loads(part.path.read_text()):
            text, value = slope_text(kept["observations"])
            role = kept["role"] if part.kind == "delay" else part.kind
            rows.setdefault((kept["function"], role), {})[kept["profiler"]] = text
            if value is not None:
                called.setdefault((role, kept["profiler"]), []).append(value)
        for (method, role), cells in rows.items():
            short = ".".join(method.split(".")[-2:])
            texts = [cells.get(name, "") for name in PROFILERS_OF_JAVA]
            print(f"| {part.program.name} | {short} | {role} | {' | '.join(texts)} |")
    for (role, profiler), values in sorted(called.items()):
        low, high = min(values), max(values)
        median = statistics.median(values)
        print(
            f"{role}, {profiler}: {len(values)} slopes, median {median:.2f}, {low:.2f}–{high:.2f}"
        )


def print_listing() -> None:
    """What each profiler says of listing 3.1, where nearly all of the time passes in `hot`."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["javac", "-d", folder, str(EXAMPLE)], check=True)
        # The serial collector, which small machines get, leaves whole loops without a safepoint: a
        # sampler that waits for one then sees next to nothing.
        argv = ("java", "-XX:+UseG1GC", "-cp", folder, "YieldPoints", "2000")
        pilot = Pilot(Place(os.path.join(folder, "store"), wait=True), SEED)
        program = pilot.ending(argv)
        print("| profiler | hot | cold |\n|---|---|---|")
        for name in PROFILERS_OF_JAVA:
            shares = pilot.profile(program, ProfiledSpec(name))["shares"]
            hot, cold = (100 * shares.get(f"YieldPoints.{m}", 0.0) for m in ("hot", "cold"))
            print(f"| {name} | {hot:.1f} % | {cold:.1f} % |", flush=True)


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no part after it")
    parser.add_argument("--table", action="store_true", help="show what is there")
    parser.add_argument("--listing", action="store_true", help="run listing 3.1")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of the results")
    parser.add_argument(
        "--profiler", dest="profilers", action="append", choices=PROFILERS_OF_JAVA, help="only it"
    )
    parser.add_argument(
        "--method", type=int, choices=(1, 2), help="the first or the second of each program only"
    )
    asked = parser.parse_args()
    if asked.table:
        print_table(asked.results)
        return
    if asked.listing:
        print_listing()
        return
    begin_s = time.monotonic()
    for part in parts(asked.results, (asked.method,) if asked.method else (1, 2)):
        if part.path.exists():
            continue
        if time.monotonic() - begin_s > asked.seconds:
            print("there is more to run")
            return
        try:
            run_part(part, tuple(asked.profilers or PROFILERS_OF_JAVA))
        except SteelyardError as error:
            print(f"failed: {error.message}", flush=True)
    print("all is there")


if __name__ == "__main__":
    main()
