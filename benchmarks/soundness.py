"""Are verdicts right on this machine? A/A comparisons, and comparisons with 4 % extra work.

Each comparison begins with a small budget and is resumed until its verdict is decided, up to ten
times: as one who follows the advice of the answer.

A real program of a few milliseconds (md5sum over text) is compared with itself, and with itself on
an input that is 4 % longer. The two kinds take turns, so that a change of the machine meets both.
The same trials are then judged by hyperfine's two usual rules, and so are the same numbers of runs
by hyperfine itself, for every fourth comparison.

    .venv/bin/python -m benchmarks.soundness [--comparisons 100] [--minutes 40] [--metric cpu_time]

Processor time (`--metric cpu_time`) can be judged on a machine that others use too; hyperfine's
rules are of wall times. With `--minutes` no comparison begins after that time, and the numbers are
of those that were made.
Exit status 1 where a limit is broken beyond chance (`beyond_chance`).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.hyperfine_rules import exported_times, judge, own_runs

CHUNK_BYTES = 100 * 1024
BASE_COPIES = 25
EXTRA_COPIES = 26  # one copy more of 25 is 4 % extra work
FIRST_BUDGET, LATER_BUDGET, MOST_RESUMES = "100runs", "300runs", 10
# How time grows with input changes with what else the machine does: it is measured again and again.
GROWTH_RUNS, GROWTH_EVERY = 100, 4
MOST_WRONG, LEAST_FOUND, LEAST_HELD = 0.05, 0.90, 0.945
HYPERFINE_EVERY = 4  # its runs take as long again
WORDS = (
    *("balance", "beam", "weight", "scale", "load", "counterpoise", "fulcrum", "arm", "notch"),
    *("measure", "error", "bound", "interval", "sample", "mean", "variance", "trial", "block"),
    *("seed", "order", "level", "factor", "host", "kernel", "cache", "page", "branch"),
)


@dataclass(frozen=True)
class Outcome:
    """One comparison: the verdict, the interval of the ratio, the blocks that it took, and how
    often it was gone on with."""

    verdict: str
    low: float
    high: float
    estimate: float
    blocks: int
    spent_s: float
    resumes: int


def make_inputs(directory: Path, seed: int) -> tuple[Path, Path]:
    """The input, and the same with 4 % more of it."""
    generator = np.random.default_rng(seed)
    words = generator.choice(WORDS, size=CHUNK_BYTES // 4)
    numbers = generator.integers(0, 10_000, size=words.size)
    text = " ".join(f"{word} {number}" for word, number in zip(words, numbers, strict=True))
    chunk = text.encode()[:CHUNK_BYTES]
    base, extra = directory / "base.txt", directory / "extra.txt"
    base.write_bytes(chunk * BASE_COPIES)
    extra.write_bytes(chunk * EXTRA_COPIES)
    return base, extra


def command_for(path: Path) -> str:
    """The program under test."""
    return f"md5sum {path}"


def compare(first: Path, second: Path, seed: int, store: Path, metric: str) -> Outcome:
    """One comparison, as a user would run it and go on with it."""
    commands = [command_for(first), command_for(second)]
    words = ("--budget", FIRST_BUDGET, "--metric", metric, "--seed", str(seed))
    document = _answer(store, "compare", *words, *commands)
    resumes = 0
    while document["comparisons"][0]["verdict"] == "undecided" and resumes < MOST_RESUMES:
        document = _answer(store, "resume", document["experiment"], "--budget", LATER_BUDGET)
        resumes += 1
    comparison = document["comparisons"][0]
    ratio = comparison["ratio"]
    return Outcome(
        comparison["verdict"],
        -math.inf if ratio["low"] is None else ratio["low"],
        math.inf if ratio["high"] is None else ratio["high"],
        ratio["estimate"],
        document["variants"][0]["repetitions"]["execution"],
        sum(variant["spent_s"] for variant in document["variants"]),
        resumes,
    )


def _answer(store: Path, *words: str) -> dict[str, Any]:
    """The document that a command of the tool answers with."""
    steelyard = str(Path(sys.executable).with_name("steelyard"))
    done = subprocess.run(
        [steelyard, *words, "--store", str(store), "--json", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return json.loads(done.stdout)


def pooled_ratio(outcomes: Sequence[Outcome]) -> float:
    """The truth as all comparisons together tell it: the mean of their logarithms."""
    return math.exp(float(np.mean([math.log(outcome.estimate) for outcome in outcomes])))


def tell(title: str, outcomes: Sequence[Outcome], truth: float) -> None:
    """Print how often each verdict came, and how often the interval held the truth."""
    counts = {v: sum(o.verdict == v for o in outcomes) for v in VERDICTS}
    held = sum(outcome.low <= truth <= outcome.high for outcome in outcomes)
    print(
        f"{title}: {len(outcomes)} comparisons, truth {truth:.4f}, pooled ratio "
        f"{pooled_ratio(outcomes):.4f}"
    )
    print("  " + ", ".join(f"{name} {count}" for name, count in counts.items()))
    print(
        f"  interval holds the truth in {held} of {len(outcomes)}; "
        f"blocks {np.median([o.blocks for o in outcomes]):.0f} (median), "
        f"{max(o.blocks for o in outcomes)} (most); resumed "
        f"{sum(o.resumes for o in outcomes) / len(outcomes):.1f} times (mean); "
        f"{np.median([o.spent_s for o in outcomes]):.1f} s a comparison (median)"
    )


VERDICTS = ("faster", "slower", "equivalent", "undecided")


class Study:
    """Comparisons of one kind, each followed by other tools' rules on the same runs."""

    def __init__(
        self, title: str, inputs: tuple[Path, Path], truth: float, home: Path, metric: str
    ) -> None:
        self.title = title
        self.truth = truth
        self._metric = metric
        self.outcomes: list[Outcome] = []
        self._inputs = inputs
        self._home = home
        self._told: dict[str, list[str]] = {}

    def add(self, seed: int) -> None:
        """One comparison more."""
        store = self._home / "store.sqlite"
        self.outcomes.append(compare(*self._inputs, seed, store, self._metric))
        judge("the same trials", exported_times(self._home), self._told)
        if len(self.outcomes) % HYPERFINE_EVERY == 1 and shutil.which("hyperfine"):
            first, second = map(command_for, self._inputs)
            times = own_runs(first, second, self.outcomes[-1].blocks, self._home)
            judge("hyperfine's own runs", times, self._told)

    def tell(self) -> None:
        """Print the verdicts, and those of the other rules."""
        tell(self.title, self.outcomes, self.truth)
        for rule, verdicts in self._told.items():
            words = ("faster", "slower", "undecided")
            print(f"  {rule}: " + ", ".join(f"{w} {verdicts.count(w)}" for w in words))

    def called(self, *words: str) -> int:
        """How many comparisons have one of these verdicts."""
        return sum(outcome.verdict in words for outcome in self.outcomes)

    def held(self) -> int:
        """How many intervals hold the truth."""
        return sum(outcome.low <= self.truth <= outcome.high for outcome in self.outcomes)


def growth(base: Path, home: Path, seed: int, metric: str) -> float:
    """What as much input again adds to the program's time, over that time; from common blocks.

    Not by a run without input: whatever a first byte costs would be taken for what grows.
    """
    double = home / "double.txt"
    double.write_bytes(2 * base.read_bytes())
    words = ("--runs", str(GROWTH_RUNS), "--metric", metric, "--seed", str(seed))
    commands = (command_for(base), command_for(double))
    document = _answer(home / "store.sqlite", "compare", *words, *commands)
    found = document["comparisons"][0]["ratio"]["estimate"] - 1.0
    mean_s = document["variants"][0]["mean"]["estimate"]
    print(f"{1e3 * mean_s:.1f} ms, as much again adds {100 * found:.1f} %", file=sys.stderr)
    return float(found)


def truth_of(shares: Sequence[float]) -> float:
    """The true ratio of the larger input, from what as much again added over the whole study."""
    return 1.0 + (EXTRA_COPIES / BASE_COPIES - 1.0) * float(np.mean(shares))


def beyond_chance(count: int, of: int, limit: float, most: bool) -> bool:
    """Whether a share is on the wrong side of a limit, with less than 1 in 1,000 by chance.

    The exact binomial test of `count` of `of` against the limit.
    """
    alternative = "greater" if most else "less"
    return bool(stats.binomtest(count, of, limit, alternative=alternative).pvalue < 1e-3)


def verdict_lines(same: Study, more: Study) -> tuple[list[str], bool]:
    """Each limit with what was found; and whether all hold."""
    lines: list[str] = []
    holds = True
    for title, count, study, limit, most in (
        ("A/A called faster or slower", same.called("faster", "slower"), same, MOST_WRONG, True),
        ("extra work called slower", more.called("slower"), more, LEAST_FOUND, False),
        ("extra work called faster", more.called("faster"), more, MOST_WRONG, True),
        ("truth held, A/A", same.held(), same, LEAST_HELD, False),
        ("truth held, extra work", more.held(), more, LEAST_HELD, False),
    ):
        of = len(study.outcomes)
        broken = beyond_chance(count, of, limit, most)
        holds = holds and not broken
        bound = f"at {'most' if most else 'least'} {100 * limit:g} %"
        lines.append(f"{title}: {count} of {of} ({bound}): {'BROKEN' if broken else 'holds'}")
    return lines, holds


def main() -> None:
    """Run both studies and say whether they hold what is promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin none after these")
    parser.add_argument("--metric", default="wall_time", choices=("wall_time", "cpu_time"))
    parser.add_argument("--seed", type=int, default=20130620)
    options = parser.parse_args()
    until = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory(prefix="steelyard-soundness-") as name:
        home = Path(name)
        base, extra = make_inputs(home, options.seed)
        same = Study("A/A", (base, base), 1.0, home, options.metric)
        more = Study("4 % extra work", (base, extra), 1.0, home, options.metric)
        shares: list[float] = []
        for index in range(options.comparisons):
            if time.monotonic() > until:
                print(f"ended after {options.minutes:g} minutes")
                break
            if index % GROWTH_EVERY == 0:
                shares.append(growth(base, home, options.seed + index, options.metric))
            same.add(options.seed + 2 * index)
            more.add(options.seed + 2 * index + 1)
            print(f"{index + 1}/{options.comparisons}", file=sys.stderr, flush=True)
        load = os.getloadavg()[2]
    more.truth = truth_of(shares)
    print(
        f"{options.metric}; as much input again adds {100 * np.mean(shares):.1f} % "
        f"({100 * min(shares):.1f} to {100 * max(shares):.1f})"
    )
    for study in (same, more):
        study.tell()
    lines, holds = verdict_lines(same, more)
    print("\n".join(lines), f"\nload of the last 15 minutes: {load:.1f}")
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
