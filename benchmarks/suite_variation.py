"""How much the user time of the suite's programs varies while the host is quiet.

    taskset -c 0 .venv/bin/python -m benchmarks.suite_variation [--only PROGRAM]

The host of a virtual machine has other guests, which slow this one for seconds. A small program of
fixed work (host_probe.c) tells so: it runs before and after each run of a program. A run is
*quiet* if in both of them neither arithmetic nor reading took 4 % longer than in a twentieth of all
probes. Nothing of the run itself decides. Each program runs until it has 6 quiet runs, or 20 runs
in all. The table of docs/suite.md shows the coefficient of variation of quiet runs, and of all.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from steelyard.app.suite_name import SuiteName
from steelyard.app.suite_program import Workshop
from steelyard.app.suite_run import run_once
from steelyard.core.errors import SteelyardError
from steelyard.suite.registry import RecipeRegistry
from steelyard.suite.toolchain import Toolchain

PAGE = Path(__file__).parents[1] / "docs" / "suite.md"
QUIET_RUNS, MOST_RUNS = 6, 20
# More than the probe varies by itself, less than what another guest on the core costs.
SLOWER_RATIO = 1.04
USUAL_QUANTILE = 0.05
FIRST_PROBES = 40


@dataclass
class Probes:
    """The times of the probe, each of arithmetic and of reading, in seconds."""

    program: str
    times_s: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])

    def take(self) -> int:
        """Run the probe; the number of what it gave."""
        told = subprocess.run([self.program], check=True, stdout=subprocess.PIPE, text=True).stdout
        arithmetic_s, reading_s = map(float, told.split())
        self.times_s.append((arithmetic_s, reading_s))
        return len(self.times_s) - 1

    def are_quiet(self, *numbers: int) -> bool:
        """Whether the host was quiet in each of these, by all probes so far."""
        usual_s = np.quantile(np.array(self.times_s), USUAL_QUANTILE, axis=0)
        return all(bool(np.all(self.times_s[n] <= SLOWER_RATIO * usual_s)) for n in numbers)


@dataclass
class Runs:
    """The runs of one program: user time in seconds, with the probes before and after it."""

    name: str
    seen: list[tuple[float, int, int]] = field(default_factory=list[tuple[float, int, int]])

    def quiet_s(self, probes: Probes) -> list[float]:
        """User times of those in a quiet host."""
        return [time_s for time_s, before, after in self.seen if probes.are_quiet(before, after)]


def variation(times_s: list[float]) -> float | None:
    """The coefficient of variation; None of fewer than two."""
    if len(times_s) < 2 or not statistics.mean(times_s):
        return None
    return statistics.stdev(times_s) / statistics.mean(times_s)


def user_s() -> float:
    """User time of all children so far."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def run_program(name: str, size: str, probes: Probes) -> Runs:
    """Run one program until enough of its runs were quiet."""
    workshop = Workshop(say=lambda text: print(text, flush=True))
    ready = workshop.ready(RecipeRegistry().get(name), SuiteName(name, Toolchain(), size))
    runs = Runs(name)
    run_once(ready.recipe, ready.variant, os.devnull)
    before = probes.take()
    while len(runs.seen) < MOST_RUNS and len(runs.quiet_s(probes)) < QUIET_RUNS:
        begin_s = user_s()
        run_once(ready.recipe, ready.variant, os.devnull)
        took_s = user_s() - begin_s
        after = probes.take()
        runs.seen.append((took_s, before, after))
        before = after
    return runs


def shown(ratio: float | None) -> str:
    """A coefficient of variation in percent."""
    return "–" if ratio is None else f"{100 * ratio:.1f} %"


def table(found: list[Runs], probes: Probes) -> str:
    """A row for each program, and the medians."""
    lines = [
        "| program | user time | runs | CoV of all | quiet runs | CoV of those |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    of_all: list[float] = []
    of_quiet: list[float] = []
    for runs in found:
        times_s = [time_s for time_s, _, _ in runs.seen]
        quiet_s = runs.quiet_s(probes)
        everything, calm = variation(times_s), variation(quiet_s)
        if everything is not None:
            of_all.append(everything)
        # Of two or three runs a coefficient says nothing.
        calm = calm if len(quiet_s) >= QUIET_RUNS // 2 else None
        if calm is not None:
            of_quiet.append(calm)
        usual_ms = 1e3 * statistics.median(quiet_s or times_s)
        lines.append(
            f"| {runs.name} | {usual_ms:.0f} ms | {len(times_s)} | {shown(everything)} "
            f"| {len(quiet_s)} | {shown(calm)} |"
        )
    every, quiet = (shown(statistics.median(v) if v else None) for v in (of_all, of_quiet))
    lines.append(f"| **median** | | | **{every}** | | **{quiet}** |")
    return "\n".join(lines)


def main() -> None:
    """Run them all, and write the table into docs/suite.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", metavar="PROGRAM")
    parser.add_argument("--size", default="train")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="steelyard-variation-") as folder:
        program = os.path.join(folder, "probe")
        source = Path(__file__).with_name("host_probe.c")
        subprocess.run(["cc", "-O2", str(source), "-o", program], check=True)
        probes = Probes(program)
        for _ in range(FIRST_PROBES):
            probes.take()
        found: list[Runs] = []
        begin_s = time.monotonic()
        for name in options.only or RecipeRegistry().names():
            try:
                found.append(run_program(name, options.size, probes))
            except SteelyardError as error:
                print(f"{name}: {error.message}", file=sys.stderr)
                continue
            print(table(found[-1:], probes).splitlines()[2], flush=True)
    made = table(found, probes)
    minutes = (time.monotonic() - begin_s) / 60
    print(made)
    if not options.only:
        text = PAGE.read_text("utf-8")
        begin = "<!-- variation: made by benchmarks/suite_variation.py -->"
        end = "<!-- end of variation -->"
        head = f"Size `{options.size}`; all in {minutes:.0f} min.\n"
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        PAGE.write_text(pattern.sub(lambda _: f"{begin}\n{head}\n{made}\n{end}", text), "utf-8")


if __name__ == "__main__":
    main()
