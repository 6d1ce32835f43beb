"""Whether profilers notice what a delay does to real programs, as Tables 3.1 and 3.2 of Mytkowicz.

In each program of the suite two hot functions are delayed by six amounts, seven runs each, under
five profilers. A slope of 1 is right. Beside each delayed function the other one is watched, whose
slope should be 0; and a program is run with no delay under six made-up amounts, where no slope may
be called.

    .venv/bin/python -m benchmarks.causality --seconds 540   # until it says that all is there
    .venv/bin/python -m benchmarks.causality --kind memory   # delays by memory alone
    .venv/bin/python -m benchmarks.causality --table         # the tables and the picture

What is finished is kept in build/causality, so that it can be stopped and gone on with. The
programs are built with -fpatchable-function-entry=32 -fno-ipa-ra, for gprof with -pg as well.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from steelyard.analysis.profiles.causality_slopes import (
    Observation,
    Slope,
    causal_slope,
    rest_change,
)
from steelyard.app.profile.profiler_causality import CausalCheck, check_profilers, undelayed_runs
from steelyard.app.suite.suite_name import SuiteName
from steelyard.app.suite.suite_program import Workshop
from steelyard.core.errors import SteelyardError
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_spec import LaunchSpec
from steelyard.run.run_experiment import Place
from steelyard.suite.known_recipes import RecipeRegistry
from steelyard.suite.recipe import Recipe
from steelyard.suite.suite_compilers import Toolchain

FLAGS = "-O2 -fpatchable-function-entry=32 -fno-ipa-ra"
GPROF_FLAGS = FLAGS.replace("-O2", "-O2 -pg")
RESULTS = Path("build/causality")
PICTURE = Path("docs/images/causality-slopes.png")
SAMPLERS = ("steelyard", "perf", "gperftools", "gprof")
PROFILERS = (*SAMPLERS, "callgrind")
AMOUNT_COUNT, RUN_COUNT = 6, 7
SEED = 1
# Targets of the project's own profiler.
MEDIAN_RANGE, FEWEST = (0.95, 1.05), 0.85
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Program:
    """A program of the suite and its two functions.

    The sizes of the suite are too short for samplers or too long for 600 runs: `sampled` and
    `simulated` say what of the size `test` is changed for profilers that sample, and for one that
    takes fifty times as long. A number is the argument behind the input, a name a parameter of it.
    """

    name: str
    functions: tuple[str, str]
    sampled: Mapping[str, int | str] = field(default_factory=dict[str, int | str])
    simulated: Mapping[str, int | str] = field(default_factory=dict[str, int | str])

    @property
    def recipe(self) -> Recipe:
        return RecipeRegistry().get(self.name)

    def sized(self, changes: Mapping[str, int | str]) -> Recipe:
        """Its recipe with the size `test` changed."""
        size = self.recipe.sizes["test"]
        argv = tuple(str(changes.get(word, word)) for word in size.argv)
        known = {name: value for name, value in changes.items() if name.isidentifier()}
        inputs = tuple(
            replace(item, parameters={**item.parameters, **known}) for item in size.inputs
        )
        sizes = {**self.recipe.sizes, "test": replace(size, argv=argv, inputs=inputs)}
        return replace(self.recipe, sizes=sizes)


PROGRAMS = (
    Program("lua", ("luaV_execute", "luaH_getshortstr"), {"12": 60}, {"12": 3}),
    Program("bzip2", ("mainGtU", "generateMTFValues"), {"bytes": 7_000_000}, {"bytes": 400_000}),
    Program(
        "picosat",
        ("backtrack", "unassign"),
        {"variables": 252, "clauses": 1109},
        {"variables": 160, "clauses": 704},
    ),
    Program("tcc", ("next_nomacro1", "unary"), {"functions": 8000}, {"functions": 400}),
    Program("xz", ("bt_find_func", "lzma_mf_bt4_find"), {"bytes": 900_000}, {"bytes": 50_000}),
    Program("hmmer2", ("P7Forward", "P7Viterbi"), {"sequences": 600}, {"sequences": 30}),
    Program(
        "duktape",
        ("duk_heap_strtable_intern", "duk__match_regexp"),
        {"rounds": 40},
        {"rounds": 2},
    ),
    Program("sqlite", ("sqlite3BtreeIndexMoveto", "pcache1Fetch"), {"8": 32}, {"8": 2}),
)
NO_DELAY_PROGRAM = "lua"


@dataclass(frozen=True)
class Part:
    """What is run in one go."""

    program: Program
    function: str
    kind: str  # samplers, callgrind, memory, no-delay

    @property
    def path(self) -> Path:
        return RESULTS / f"{self.program.name}-{self.function}-{self.kind}.json"


def parts() -> Iterator[Part]:
    """Every part, the cheap ones first."""
    for kind in ("samplers", "callgrind"):
        for program in PROGRAMS:
            for function in program.functions:
                yield Part(program, function, kind)
    for program in PROGRAMS:
        if program.name == NO_DELAY_PROGRAM:
            yield Part(program, program.functions[0], "no-delay")
    for index in range(2):
        for program in PROGRAMS:
            yield Part(program, program.functions[index], "memory")


def launch_of(program: Program, changes: Mapping[str, int | str], flags: str) -> LaunchSpec:
    """How the program is run, built with these flags, at the size `test` with changes."""
    workshop = Workshop(say=lambda text: print(text, flush=True))
    asked = SuiteName(program.name, Toolchain(flags=flags), "test")
    return workshop.ready(program.sized(changes), asked).variant.launch


@contextmanager
def conditions(launch: LaunchSpec) -> Iterator[None]:
    """The directory and the environment that a program of the suite wants."""
    before, folder = dict(os.environ), Path.cwd()
    for name, value in launch.environment:
        os.environ.pop(name, None) if value is None else os.environ.update({name: value})
    try:
        os.chdir(launch.working_directory or folder)
        yield
    finally:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(before)


def check_of(part: Part) -> tuple[CausalCheck, LaunchSpec]:
    """What is to be checked, and under which conditions."""
    program = part.program
    simulated = part.kind == "callgrind"
    changes = program.simulated if simulated else program.sampled
    launch = launch_of(program, changes, FLAGS)
    other = next(name for name in program.functions if name != part.function)
    check = CausalCheck(
        argv=launch.argv,
        functions=(part.function,),
        controls=(other,),
        profilers=("callgrind",) if simulated else SAMPLERS,
        amount_count=AMOUNT_COUNT,
        run_count=RUN_COUNT,
        seed=SEED,
    )
    if part.kind == "samplers":
        built = launch_of(program, changes, GPROF_FLAGS)
        check = replace(check, commands={"gprof": built.argv})
    if part.kind == "memory":
        check = replace(check, profilers=("steelyard", "perf"), buffer_bytes=1 << 20)
    return check, launch


def run_part(part: Part) -> None:
    """Run a part, and keep what it gave."""
    check, launch = check_of(part)
    print(f"{part.path.stem} ...", end=" ", flush=True)
    begin_s = time.monotonic()
    with conditions(launch):
        if part.kind == "no-delay":
            slopes = without_delay(check, part.function)
        else:
            slopes = in_own_store(lambda place: check_profilers(check, place))
    kept = [as_json(slope) for slope in slopes]
    part.path.parent.mkdir(parents=True, exist_ok=True)
    part.path.write_text(json.dumps(kept))
    print(f"{time.monotonic() - begin_s:.0f} s", flush=True)


def in_own_store(run: Callable[[Place], T]) -> T:
    """What `run` gives with a store that is thrown away, and tells meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        say = partial(print, end=" ", flush=True)
        return run(Place(os.path.join(folder, "store"), wait=True, say=say))


def without_delay(check: CausalCheck, function: str) -> tuple[Slope, ...]:
    """The same runs with no delay at all, under amounts that mean nothing."""
    check = replace(check, profilers=("steelyard",))
    runs = in_own_store(lambda place: undelayed_runs(check, function, place))
    observations = tuple(
        replace(run.of(function), amount=index % AMOUNT_COUNT) for index, run in enumerate(runs)
    )
    slope = causal_slope(observations)
    what = (function, "steelyard", "delayed", function, slope)
    return (Slope(*what, AMOUNT_COUNT, len(runs), observations, rest_change(observations)),)


def as_json(slope: Slope) -> dict[str, Any]:
    """What is kept of a slope: the runs that it is computed from."""
    seen = [
        (item.amount, item.program_s, item.function_s, item.block) for item in slope.observations
    ]
    return {
        **{"function": slope.function, "profiler": slope.profiler, "role": slope.role},
        **{"delayed": slope.delayed, "observations": seen},
    }


def read_part(part: Part) -> list[Slope]:
    """The slopes of a part that was run."""
    found: list[Slope] = []
    for item in json.loads(part.path.read_text()):
        seen = tuple(Observation(*words) for words in item["observations"])
        amounts = len({one.amount for one in seen})
        what = (item["function"], item["profiler"], item["role"], item["delayed"])
        at_once = part.kind == "memory"
        slope = causal_slope(seen, begins_at_once=at_once)
        rest = rest_change(seen, begins_at_once=at_once)
        found.append(Slope(*what, slope, amounts, len(seen), seen, rest))
    return found


def cell(slope: Slope | None) -> str:
    """A slope as the table shows it."""
    if slope is None:
        return "–"
    if not isinstance(slope.slope, Estimate):
        return "not called"
    return f"{slope.slope.estimate:.2f} ± {slope.slope.half_width:.2f}"


def table(role: str, found: Mapping[Part, Sequence[Slope]]) -> list[str]:
    """Table 3.2, with the median below each profiler."""
    lines = [
        "| program | delayed | watched | " + " | ".join(PROFILERS) + " |",
        "|---|---|---" + "|---:" * len(PROFILERS) + "|",
    ]
    values: dict[str, list[float]] = {name: [] for name in PROFILERS}
    for program in PROGRAMS:
        for function in program.functions:
            slopes = {
                slope.profiler: slope
                for part, given in found.items()
                if part.program is program
                and part.function == function
                and part.kind in ("samplers", "callgrind")
                for slope in given
                if slope.role == role
            }
            for name, slope in slopes.items():
                if isinstance(slope.slope, Estimate):
                    values[name].append(slope.slope.estimate)
            watched = next((slope.function for slope in slopes.values()), "–")
            cells = " | ".join(cell(slopes.get(name)) for name in PROFILERS)
            lines.append(f"| {program.name} | `{function}` | `{watched}` | {cells} |")
    for word, of in (("median", statistics.median), ("lowest", min), ("highest", max)):
        cells = " | ".join(f"{of(v):.2f}" if v else "–" for v in values.values())
        lines.append(f"| **{word}** | | | {cells} |")
    return lines


def draw(found: Mapping[Part, Sequence[Slope]]) -> None:
    """Every slope with its interval, by profiler: the delayed functions, and those left alone."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.2), dpi=150)
    FigureCanvasAgg(figure)
    for axes, role, wanted in zip(
        figure.subplots(1, 2), ("delayed", "control"), (1, 0), strict=True
    ):
        axes.axhline(wanted, color="#8a8f98", linewidth=1, linestyle="--")
        for place, profiler in enumerate(PROFILERS):
            slopes = [
                slope.slope
                for part, given in found.items()
                if part.kind in ("samplers", "callgrind")
                for slope in given
                if slope.role == role and slope.profiler == profiler
            ]
            known = [slope for slope in slopes if isinstance(slope, Estimate)]
            for index, slope in enumerate(known):
                x = place + 0.6 * (index / max(1, len(known) - 1) - 0.5)
                axes.plot([x, x], [slope.low, slope.high], color="#56B4E9", linewidth=1.5)
                axes.plot([x], [slope.estimate], "o", color="#0072B2", markersize=3.5)
        axes.set_xticks(range(len(PROFILERS)), PROFILERS)
        axes.set_title("the delayed function: 1 is right" if wanted else "another one: 0 is right")
        axes.set_ylabel("slope, with its interval of 95 %")
        axes.grid(axis="y", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE)


def say_all(found: Mapping[Part, Sequence[Slope]]) -> bool:
    """Print the tables, and say whether the targets are met."""
    print("\nDelayed functions (1 is right)\n")
    print("\n".join(table("delayed", found)))
    print("\nFunctions beside them (0 is right)\n")
    print("\n".join(table("control", found)))
    print("\nDelays by memory, and none at all\n")
    for part, given in found.items():
        if part.kind not in ("memory", "no-delay"):
            continue
        for slope in given:
            rest = slope.rest
            told = f"rest {100 * rest.estimate:+.1f} %" if isinstance(rest, Estimate) else ""
            print(
                f"{part.program.name} {part.kind} {slope.delayed} -> {slope.function} "
                f"{slope.profiler}: {cell(slope)} {told if slope.role == 'delayed' else ''}"
            )
    ours = [
        slope.slope.estimate
        for part, given in found.items()
        if part.kind == "samplers"
        for slope in given
        if slope.role == "delayed"
        and slope.profiler == "steelyard"
        and isinstance(slope.slope, Estimate)
    ]
    middle = statistics.median(ours) if ours else 0.0
    met = MEDIAN_RANGE[0] <= middle <= MEDIAN_RANGE[1] and min(ours, default=0.0) >= FEWEST
    print(f"\nours: median {middle:.3f}, lowest {min(ours, default=0):.3f} of {len(ours)}: {met}")
    return met


def main() -> int:
    """Run what is missing, or show what is there."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=1e9, help="begin no part after these")
    options.add_argument("--kind", help="parts of this kind only")
    options.add_argument("--table", action="store_true", help="run nothing, show what is there")
    asked = options.parse_args()
    end_s = time.monotonic() + asked.seconds
    for part in parts():
        if asked.table or part.path.exists() or (asked.kind and part.kind != asked.kind):
            continue
        if time.monotonic() > end_s:
            print("time is up; go on with the same command")
            return 0
        try:
            run_part(part)
        except SteelyardError as error:
            print(f"failed: {error.message}", flush=True)
    found = {part: read_part(part) for part in parts() if part.path.exists()}
    if not asked.table:
        print(f"{len(found)} of {len(list(parts()))} parts are there")
        return 0
    draw(found)
    return 0 if say_all(found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
