"""What dimensioning saves on real programs with harnesses inside, predicted and as it ran.

Each program of the suite is dimensioned from an initial experiment of 30 executions x 30
iterations. From its variances and costs come the counts, and the time that a half-width of 1 % of
the mean takes with the chosen iterations in each execution. *Fixed over 1 %* is the time of 30 x 30
over it, whatever half-width 30 x 30 itself has reached; 0 where 1 % takes more than 1,000
executions. The *saving* is the time to one half-width with 30 iterations over that with the chosen
count, which is the same for each half-width.

    .venv/bin/python -m benchmarks.dimension_programs

Then both designs really run, side by side: 30 blocks, each of one execution with 30 iterations and
one with the chosen count, in random order. Run one after the other they would see other minutes of
the machine, whose neighbours change its speed by more than what is compared. The *saving as it ran*
is the time to one half-width with the one over that with the other, from these executions alone.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scipy import stats

FIXED_COUNT = 30  # Kalibera and Jones, ISMM 2013, section 9.1
PRECISION_RATIO = 0.01
CONFIDENCE = 0.95
FEWEST_EXECUTIONS, MOST_EXECUTIONS = 5, 1000  # section 9.3
WANTED_RATIO = 3.0
BLOCK_COUNT = 30
SEED = 20130621


@dataclass(frozen=True)
class Default:
    """What a harness does unless told otherwise.

    Parameters
    ----------
    says : str
        In its words.
    execution_count, value_count : int
        Processes, and values in each.
    value_s : float or None
        How long the harness makes one value by repeating the benchmark inside it; None: once.
    warmup_s : float or None
        The warm-up of each process; None: the one that is used here.
    """

    says: str
    execution_count: int
    value_count: int
    value_s: float | None = None
    warmup_s: float | None = None


@dataclass(frozen=True)
class Program:
    """A program of the suite, with iterations as long as harnesses make them.

    The suite's own iterations take a few milliseconds, so that its sizes fit; those of the paper
    1.7 to 35.5 s (Kalibera and Jones, ISMM 2013, table 5). Here most take about half a second: by a
    larger text, or another word of the command. An iteration is dropped as warm-up where the first
    ones take longer by more than their interval; native ones of half a second do not.

    Parameters
    ----------
    name, adapter : str
    default : Default
        Its harness's own design.
    text_count : int
        How often the text that it reads is repeated.
    words : mapping of int to str
        Words of its command that are other ones, by their place.
    warmup_count : int or None
        Iterations dropped; None: those that the harness calls warm-up.
    """

    name: str
    adapter: str
    default: Default
    text_count: int = 1
    words: Mapping[int, str] = field(default_factory=dict)
    warmup_count: int | None = None


# One kind of program keeps its data in the first caches, the other one does not; the latter share
# the last cache and the memory with whatever else the machine does.
PROGRAMS = (
    Program(
        "nbody",
        "json-lines",
        Default("1 execution of 450 iterations", 1, 450),
        words={3: "48000"},
        warmup_count=0,
    ),
    Program(
        "gbench-rays",
        "google-benchmark",
        Default("1 execution of 0.5 s, one value", 1, 1, 0.5, 0.0),
        words={2: "1350"},
        warmup_count=0,
    ),
    Program(
        "pyperf-queens",
        "pyperf",
        Default("20 processes of 3 values of 0.1 s, 1 warm-up", 20, 3, 0.1, 0.1),
        words={3: "13"},
    ),
    Program(
        "jvm-rhino",
        "json-lines",
        Default("1 execution of 45 iterations", 1, 45),
        words={8: "80"},
        warmup_count=5,
    ),
    Program(
        "hash-join",
        "json-lines",
        Default("1 execution of 500 iterations", 1, 500),
        words={2: "400000"},
        warmup_count=1,
    ),
    Program(
        "gbench-words",
        "google-benchmark",
        Default("1 execution of 0.5 s, one value", 1, 1, 0.5, 0.0),
        text_count=200,
        warmup_count=0,
    ),
    Program(
        "pyperf-words",
        "pyperf",
        Default("20 processes of 3 values of 0.1 s, 1 warm-up", 20, 3, 0.1, 0.1),
        text_count=210,
    ),
    Program(
        "jvm-xalan",
        "json-lines",
        Default("1 execution of 50 iterations", 1, 50),
        words={8: "20"},
        warmup_count=15,
    ),
)


@dataclass(frozen=True)
class Design:
    """Executions of so many iterations each, as they ran.

    Parameters
    ----------
    iteration_count : int
    means_s : sequence of float
        The mean iteration of each execution.
    costs_s : sequence of float
        What each execution took, from its start to its end.
    """

    iteration_count: int
    means_s: Sequence[float]
    costs_s: Sequence[float]

    @property
    def time_s(self) -> float:
        """What all of it took."""
        return sum(self.costs_s)

    @property
    def half_width_ratio(self) -> float:
        """Half-width of the mean's interval, as a share of the mean (Kalibera and Jones, eq. 5)."""
        count = len(self.means_s)
        quantile = float(stats.t.ppf(0.5 + CONFIDENCE / 2, count - 1))
        deviation = statistics.stdev(self.means_s) / math.sqrt(count)
        return quantile * deviation / statistics.fmean(self.means_s)

    @property
    def one_percent_s(self) -> float:
        """What so many of these executions take that the half-width is 1 % of the mean."""
        variation = statistics.stdev(self.means_s) / statistics.fmean(self.means_s)
        count = executions_needed(variation)
        return math.nan if count is None else count * statistics.fmean(self.costs_s)

    @property
    def time_to_precision(self) -> float:
        """What time to a given half-width is proportional to, in seconds."""
        variation = statistics.stdev(self.means_s) / statistics.fmean(self.means_s)
        return variation**2 * statistics.fmean(self.costs_s)


@dataclass(frozen=True)
class Found:
    """What came of one program. Times in seconds, half-widths as a share of the mean."""

    name: str
    iteration_s: float
    start_s: float
    variations: tuple[float, float]
    iteration_count: int
    one_percent_s: float | None
    saving: float
    fixed_s: float
    fixed_ratio: float
    default: Default
    default_s: float
    default_ratio: float | None
    fixed: Design | None = None
    chosen: Design | None = None
    warnings: tuple[str, ...] = field(default=())

    @property
    def fixed_over_one_percent(self) -> float:
        """The time of 30 x 30 over that to 1 %; 0 where 1 % is out of reach."""
        return 0.0 if self.one_percent_s is None else self.fixed_s / self.one_percent_s

    @property
    def realised_over_one_percent(self) -> float:
        """The same as both ran; 0 where 1 % is out of reach."""
        if self.fixed is None or self.chosen is None:
            return math.nan
        one_percent_s = self.chosen.one_percent_s
        return 0.0 if math.isnan(one_percent_s) else self.fixed.time_s / one_percent_s

    @property
    def realised_saving(self) -> float:
        """The time to one half-width with 30 iterations over that with the chosen count."""
        if self.fixed is None or self.chosen is None:
            return math.nan
        return self.fixed.time_to_precision / self.chosen.time_to_precision


def executions_needed(variation: float) -> int | None:
    """The fewest executions whose mean has a half-width of 1 %; None where 1,000 are too few."""
    for count in range(FEWEST_EXECUTIONS, MOST_EXECUTIONS + 1):
        quantile = float(stats.t.ppf(0.5 + CONFIDENCE / 2, count - 1))
        if quantile * variation / math.sqrt(count) <= PRECISION_RATIO:
            return count
    return None


def steelyard(name: str, *arguments: str) -> dict[str, Any]:
    """What the command `name` of Steelyard answers."""
    program = str(Path(sys.executable).with_name("steelyard"))
    done = subprocess.run(
        [program, name, "--json", "-", *arguments], stdout=subprocess.PIPE, check=True, text=True
    )
    return json.loads(done.stdout)


def command(program: Program, store: str) -> tuple[str, ...]:
    """The command of a program as the suite has it, with longer iterations; its options first."""
    told = steelyard("measure", "--runs", "1", "--store", store, f"suite:{program.name}@size=test")
    shown = steelyard("show", "--store", store, told["experiment"])
    launch = shown["specification"]["variants"][0]["launch"]
    argv = [program.words.get(place, word) for place, word in enumerate(launch["argv"])]
    if program.text_count > 1:
        place = next(i for i, word in enumerate(argv) if word.endswith("prose.txt"))
        longer = Path(store).with_name(f"{program.name}.txt")
        longer.write_bytes(Path(argv[place]).read_bytes() * program.text_count)
        argv[place] = str(longer)
    changes = [f"{name}={value}" for name, value in launch["environment"] if value is not None]
    options = [word for change in changes for word in ("--env", change)]
    if launch["working_directory"] is not None:
        options += ["--directory", launch["working_directory"]]
    return (*options, "--name", program.name, "--", *argv)


def design(program: Program, executions: int, iterations: int, store: str) -> tuple[str, ...]:
    """The options that both commands take for a design of fixed counts."""
    counts = ("--repeat", f"execution={executions}", "--repeat", f"iteration={iterations}")
    warmup = program.warmup_count
    dropped = () if warmup is None else ("--warmup-iterations", str(warmup))
    reading = ("--iterations", program.adapter, *dropped)
    return (*reading, *counts, "--store", store, *command(program, store))


def dimensioned(program: Program, store: str) -> Found:
    """Dimension a program from an initial experiment of 30 x 30."""
    fixed = design(program, FIXED_COUNT, FIXED_COUNT, store)
    document = steelyard("dimension", *fixed)
    levels = {level["level"]: level for level in document["levels"]}
    start_s, iteration_s = (levels[name]["cost_s"] for name in ("execution", "iteration"))
    mean = document["mean"]["estimate"]
    relative = [max(0.0, levels[name]["variance"]) / mean**2 for name in ("execution", "iteration")]
    count = document["counts"]["iteration"]
    row = next(r for r in document["table"] if r["half_width_ratio"] == PRECISION_RATIO)
    default = program.default
    return Found(
        name=program.name,
        iteration_s=iteration_s,
        start_s=start_s,
        variations=(math.sqrt(relative[0]), math.sqrt(relative[1])),
        iteration_count=count,
        one_percent_s=row["time_s"],
        saving=time_to_precision(relative, start_s, iteration_s, FIXED_COUNT)
        / time_to_precision(relative, start_s, iteration_s, count),
        fixed_s=FIXED_COUNT * (start_s + FIXED_COUNT * iteration_s),
        fixed_ratio=half_width(document["mean"]) / mean,
        default=default,
        default_s=default_time(default, start_s, iteration_s, program.warmup_count),
        default_ratio=default_half_width(default, relative, iteration_s),
        warnings=tuple(warning["code"] for warning in document["warnings"]),
    )


def half_width(estimate: dict[str, float]) -> float:
    """Half of an interval."""
    return (estimate["high"] - estimate["low"]) / 2


def predicted_ratio(relative: Sequence[float], executions: int, values: float) -> float | None:
    """Half-width of the mean as a share of it; None with one execution.

    Kalibera and Jones, equations 1 and 5: the variance of the mean of an execution, from the
    variances between executions and between `values` independent values in each.
    """
    if executions < 2:
        return None
    deviation = math.sqrt((relative[0] + relative[1] / values) / executions)
    return float(stats.t.ppf(0.5 + CONFIDENCE / 2, executions - 1)) * deviation


def time_to_precision(
    relative: Sequence[float], start_s: float, iteration_s: float, iterations: int
) -> float:
    """What time to a given half-width is proportional to: the variance of the mean of an
    execution, times what an execution takes (Kalibera and Jones, section 9.3)."""
    return (relative[0] + relative[1] / iterations) * (start_s + iterations * iteration_s)


def default_time(
    default: Default, start_s: float, iteration_s: float, warmup_count: int | None
) -> float:
    """What the harness's own design takes, without what is dropped here as warm-up."""
    value_s = default.value_s or iteration_s
    bare_s = max(0.0, start_s - (warmup_count or 0) * iteration_s)
    warmup_s = start_s - bare_s if default.warmup_s is None else default.warmup_s
    return default.execution_count * (bare_s + warmup_s + default.value_count * value_s)


def default_half_width(
    default: Default, relative: Sequence[float], iteration_s: float
) -> float | None:
    """The half-width of the harness's own design, if its values were independent."""
    inside = max(1.0, (default.value_s or iteration_s) / iteration_s)
    return predicted_ratio(relative, default.execution_count, default.value_count * inside)


def side_by_side(program: Program, found: Found, store: str) -> Found:
    """The same with both designs as they ran, in blocks of one execution of each."""
    draw = random.Random(SEED)
    counts = (FIXED_COUNT, found.iteration_count)
    means: tuple[list[float], ...] = ([], [])
    costs: tuple[list[float], ...] = ([], [])
    options = [design(program, 1, count, store) for count in counts]
    for _ in range(BLOCK_COUNT):
        for place in draw.sample(range(2), 2):
            variant = steelyard("measure", *options[place])["variants"][0]
            means[place].append(variant["metrics"]["iteration_time"]["mean"]["estimate"])
            costs[place].append(variant["metrics"]["wall_time"]["mean"]["estimate"])
    fixed, chosen = (Design(counts[place], means[place], costs[place]) for place in range(2))
    return replace(found, fixed=fixed, chosen=chosen)


def share(value: float | None) -> str:
    """A share in percent; unbounded where there is none."""
    return "unbounded" if value is None else f"{value:.2%}"


def ran(design: Design | None) -> str:
    """A design as it ran."""
    if design is None:
        return "not run"
    counts = f"{len(design.means_s)} x {design.iteration_count}"
    return f"{counts}: {seconds(design.time_s)}, ± {share(design.half_width_ratio)}"


def show(found: Found) -> None:
    """Print what came of a program."""
    execution, iteration = (f"{value:.2%}" for value in found.variations)
    print(
        f"\n{found.name}: iteration {found.iteration_s * 1e3:.2f} ms, until the first kept one "
        f"{found.start_s:.2f} s; variation of execution {execution}, of iteration {iteration}"
    )
    rows = [
        ("fixed 30 x 30", found.fixed_s, found.fixed_ratio),
        (f"harness: {found.default.says}", found.default_s, found.default_ratio),
        (f"1 % with {found.iteration_count} iterations", found.one_percent_s, PRECISION_RATIO),
    ]
    for name, time_s, ratio in rows:
        print(f"  {name:52} {seconds(time_s):>10}   half-width {share(ratio)}")
    print(f"  side by side: {ran(found.fixed)}; {ran(found.chosen)}")
    print(
        f"  fixed over 1 %: predicted {found.fixed_over_one_percent:.1f}, "
        f"as it ran {found.realised_over_one_percent:.1f}; "
        f"saving: predicted {found.saving:.1f}, as it ran {found.realised_saving:.1f}"
    )
    if found.warnings:
        print(f"  cautions: {', '.join(found.warnings)}")


def seconds(time_s: float | None) -> str:
    """A time; none where it takes more than 1,000 executions."""
    return "-" if time_s is None else f"{time_s:.1f} s"


def table(results: Sequence[Found]) -> None:
    """Print the results as a Markdown table."""
    heads = (
        "program",
        "fixed 30 x 30",
        "the harness's own",
        "to 1 %, predicted",
        "fixed, side by side",
        "chosen, side by side",
        "fixed over 1 %, predicted",
        "fixed over 1 %, as it ran",
        "saving, predicted",
        "saving, as it ran",
    )
    print("\n| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for found in results:
        cells = (
            f"`{found.name}`",
            f"{found.fixed_s:.1f} s, ± {share(found.fixed_ratio)}",
            f"{found.default.says}: {found.default_s:.1f} s, ± {share(found.default_ratio)}",
            seconds(found.one_percent_s),
            ran(found.fixed),
            ran(found.chosen),
            f"{found.fixed_over_one_percent:.1f}",
            f"{found.realised_over_one_percent:.1f}",
            f"{found.saving:.1f} times",
            f"{found.realised_saving:.1f} times",
        )
        print("| " + " | ".join(cells) + " |")


def judge(results: Sequence[Found]) -> bool:
    """Print the medians, and say whether 1 % takes a third of the time of 30 x 30."""
    names = ("fixed_over_one_percent", "realised_over_one_percent", "saving", "realised_saving")
    gain, realised_gain, saving, realised = (
        statistics.median(getattr(found, name) for found in results) for name in names
    )
    print(f"\nmedian saving: predicted {saving:.1f}, as it ran {realised:.1f}")
    holds = True
    for kind, value in (("predicted", gain), ("as it ran", realised_gain)):
        holds = holds and value >= WANTED_RATIO
        print(
            f"median of fixed over 1 %, {kind}: {value:.1f} (at least {WANTED_RATIO:.0f}): "
            f"{'holds' if value >= WANTED_RATIO else 'DOES NOT HOLD'}"
        )
    return holds


def main() -> None:
    """Dimension the programs and run what was chosen."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [program.name for program in PROGRAMS]
    parser.add_argument("--only", choices=names, action="append")
    parser.add_argument("--keep", help="keep the store under this name")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="steelyard-dimension-") as directory:
        store = options.keep or f"{directory}/store.sqlite"
        results: list[Found] = []
        for program in PROGRAMS:
            if options.only and program.name not in options.only:
                continue
            found = side_by_side(program, dimensioned(program, store), store)
            show(found)
            results.append(found)
    table(results)
    sys.exit(0 if judge(results) else 1)


if __name__ == "__main__":
    main()
