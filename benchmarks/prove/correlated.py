"""Proves the correlations of event studies by simulation with a known truth.

    python -m benchmarks.prove.correlated [--experiments N] [--no-docs]

A row for each way in which counts, orders and results can hang together: how often intervals hold
the coefficient of endlessly many runs, how often p says so where nothing hangs together, and how
often the answer warns of results that are not normal. Writes its table into docs/STATISTICS.md.
Exit status 1 where tests of independent values raise more than 5 % of false alarms, or intervals of
normal results hold less often than `LOWEST` says.
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import asin, pi, sqrt

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from benchmarks.prove.proof_page import Proof, is_above, is_below, prove
from steelyard.analysis.events.correlation import (
    Correlation,
    pair_correlation,
    pearson,
    ranks,
    spearman,
)
from steelyard.analysis.tests.shapiro_wilk import shapiro_wilk
from steelyard.core.estimate import Estimate
from steelyard.core.rng import derive_seed

Floats = NDArray[np.float64]

EXPERIMENTS = 10_000
CONFIDENCE, ALPHA = 0.95, 0.05
# The jackknife over pairs does not reach what it says; docs/STATISTICS.md says by how much.
LOWEST = {"numbers": 0.94, "ranks": 0.94, "order": 0.91}
# More than that hold only intervals that say nothing, and fewer alarms raises only a test that
# never rejects; that of a correlation of 0.9 finds most.
HIGHEST, LEAST_ALARMS, LEAST_FOUND = 0.985, 0.03, 0.9
COUNTS = (10, 30)
# Enough for the 5 % of the test to be exact: it says so at 10 of 200.
PERMUTATIONS = 199
# Runs for the coefficient of endlessly many: its standard error is about 0.002.
MANY = 400_000


class Runs(ABC):
    """How the results of runs, and what their events depend on, come about."""

    name: str
    independent = False
    normal = True

    @abstractmethod
    def draw(self, generator: np.random.Generator, count: int) -> tuple[Floats, Floats]:
        """Some runs' results, and for each run what its events depend on."""

    def truth(self, quantity: str) -> float:
        """The coefficient of endlessly many runs; of the order, over pairs that share no run."""
        y, x = self.draw(np.random.default_rng(derive_seed(1, "correlated", "truth")), MANY)
        if quantity == "ranks":
            x, y = ranks(x), ranks(y)
        if quantity == "order":
            x, y = (np.abs(values[::2] - values[1::2]) for values in (x, y))
        return float(np.corrcoef(x, y)[0, 1])


class Normal(Runs):
    """Normal results, and normal values that correlate with them."""

    def __init__(self, r: float) -> None:
        self.r = r
        self.name = f"normal, r = {r:g}"
        self.independent = r == 0

    def draw(self, generator: np.random.Generator, count: int) -> tuple[Floats, Floats]:
        """Of the correlation `r`."""
        first, second = generator.standard_normal((2, count))
        return first, self.r * first + sqrt(1 - self.r**2) * second

    def truth(self, quantity: str) -> float:
        """In closed form: of ranks Pearson's 6/pi asin(r/2); of distances that of |X| and |Y|
        (Nabeya, Annals of the Institute of Statistical Mathematics 3 (1951) 2)."""
        r = self.r
        if quantity == "ranks":
            return 6 / pi * asin(r / 2)
        if quantity == "order":
            return 2 * (r * asin(r) + sqrt(1 - r * r) - 1) / (pi - 2)
        return r


class Counted(Runs):
    """Ten events or so a run, each of which takes time, and other things that take as much."""

    name = "Poisson counts"

    def draw(self, generator: np.random.Generator, count: int) -> tuple[Floats, Floats]:
        """Of a correlation of 0.71."""
        events = generator.poisson(10, count).astype(np.float64)
        return events + generator.normal(0, sqrt(10), count), events


class Skewed(Runs):
    """Exponential results and values: few runs far from the others."""

    normal = False

    def __init__(self, r: float) -> None:
        self.r = r
        self.name = f"exponential, r = {r:g}"
        self.independent = r == 0

    def draw(self, generator: np.random.Generator, count: int) -> tuple[Floats, Floats]:
        """Of the correlation `r`."""
        first, second = generator.exponential(size=(2, count))
        return self.r * first + sqrt(1 - self.r**2) * second, first


@dataclass(frozen=True)
class Situation:
    """What is asked of how many runs."""

    quantity: str
    runs: Runs
    count: int


@dataclass(frozen=True)
class Outcome:
    """How often one situation was answered rightly."""

    situation: Situation
    truth: float
    held: float
    alarms: float
    warned: float
    count: int

    def problem(self) -> str | None:
        """What promise is not kept, beyond chance."""
        alarms, held = round(self.alarms * self.count), round(self.held * self.count)
        if self.situation.runs.independent and is_above(alarms, self.count, ALPHA):
            return f"{100 * self.alarms:.1f} % false alarms"
        runs = self.situation.runs
        least = LEAST_ALARMS if runs.independent else LEAST_FOUND
        if (runs.independent or runs.name.endswith("0.9")) and is_below(alarms, self.count, least):
            return f"p < {ALPHA:g} in {100 * self.alarms:.1f} % alone"
        if is_above(held, self.count, HIGHEST):
            return f"covers {100 * self.held:.1f} %, so that it says nothing"
        lowest = LOWEST[self.situation.quantity]
        if self.situation.runs.normal and is_below(held, self.count, lowest):
            return f"covers {100 * self.held:.1f} %"
        return None


def answer(quantity: str, x: Floats, y: Floats, generator: np.random.Generator) -> Correlation:
    """What the analysis says of these runs."""
    if quantity == "numbers":
        return pearson(x, y, CONFIDENCE)
    if quantity == "ranks":
        return spearman(x, y, CONFIDENCE)
    apart = np.abs(x[:, None] - x[None, :])
    return pair_correlation(apart, y, CONFIDENCE, generator, PERMUTATIONS)


def situations() -> Iterator[Situation]:
    """Everything that is simulated."""
    kinds = (Normal(0), Normal(0.5), Normal(0.9), Counted(), Skewed(0), Skewed(0.5))
    for quantity in LOWEST:
        for count in COUNTS:
            for runs in kinds:
                yield Situation(quantity, runs, count)


def simulate(situation: Situation, experiments: int) -> Outcome:
    """Many studies of one kind."""
    quantity, runs, count = situation.quantity, situation.runs, situation.count
    generator = np.random.default_rng(derive_seed(1, "correlated", quantity, runs.name, count))
    truth = 0.0 if runs.independent else runs.truth(quantity)
    held = alarms = warned = 0
    for _ in range(experiments):
        y, x = runs.draw(generator, count)
        found = answer(quantity, x, y, generator)
        interval = found.coefficient
        held += not isinstance(interval, Estimate) or interval.low <= truth <= interval.high
        alarms += found.p is not None and found.p <= ALPHA
        shape = shapiro_wilk(y.tolist())
        warned += shape is not None and shape.p < 0.01
    shares = (held / experiments, alarms / experiments, warned / experiments)
    return Outcome(situation, truth, *shares, experiments)


def report(outcomes: Sequence[Outcome], experiments: int) -> list[str]:
    """The table for the docs."""
    header = ("correlation of", "results and events", "runs", "true", "covered %", "p < 0.05 in %")
    lines = [
        f"### Correlations of event studies, {experiments} studies each",
        "",
        f"| {' | '.join(header)} | warned % |",
        "|" + "---|" * (len(header) + 1),
    ]
    for outcome in outcomes:
        asked = outcome.situation
        cells = (asked.quantity, asked.runs.name, str(asked.count), f"{outcome.truth:.3f}")
        shares = (outcome.held, outcome.alarms, outcome.warned)
        lines.append(f"| {' | '.join((*cells, *(f'{100 * s:.1f}' for s in shares)))} |")
    return lines


def problems(outcome: Outcome) -> list[str]:
    """What is wrong with one outcome, by its name."""
    asked, problem = outcome.situation, outcome.problem()
    name = f"{asked.quantity}, {asked.runs.name}, {asked.count} runs"
    return [] if problem is None else [f"{name}: {problem}"]


PROOF = Proof(
    "benchmarks.prove.correlated",
    __doc__ or "",
    "prove events",
    EXPERIMENTS,
    tuple(situations()),
    simulate,
    report,
    problems,
)

if __name__ == "__main__":
    sys.exit(prove(PROOF))
