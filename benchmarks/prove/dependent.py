"""Proves ratios of programs that remember their own last run, and ratios without Fieller's bounds.

    python -m benchmarks.prove.dependent [--experiments N] [--no-docs]

AR(1) inside each variant, apart from each other, which blocks do not cancel; at fixed numbers of
blocks, and when the experiment runs until its verdict is decided. And ratios in few blocks of a
baseline that varies so much that Fieller's set has no bounds. And what blocks cannot show: a kind
of run that one program alone has, and a cycle of each program's own that is longer than they are.
Exit status 1 where ratios hold in less than 93 %, or less than is stated (below 20 blocks, and for
what blocks cannot show), or have no bounds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from benchmarks.prove.deciding import decided_at, end_of, held_to_the_real_rule
from benchmarks.prove.judging import covers, inference, judge_ratios, top_levels
from benchmarks.prove.proof_page import Proof, is_below, prove, table
from benchmarks.prove.time_populations import lognormal, normal
from steelyard.analysis.intervals.autoregression import FEWEST_BLOCKS
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_results import StopReason
from steelyard.core.rng import derive_seed
from steelyard.core.stopping_spec import StoppingSpec

Array = NDArray[np.float64]
EXPERIMENTS = 10_000
NOISE, TRUE_RATIO = 0.02, 1.0
LOWEST = 0.93
# Below 20 blocks the docs state what is left of 95 %.
STATED = {(0.5, 10): 0.73, (0.8, 10): 0.47}
# What no statistic of the blocks shows that were run; the docs state what is left of 95 %.
HIDDEN = {"one in 20 longer by 30 %, in one program": 0.5, "a cycle of 94 blocks each": 0.7}
LONGEST = 600
# Experiments that are compared with the tool's own rule, block by block.
CHECKED_AGAINST_REAL = 5


@dataclass(frozen=True)
class Situation:
    """What remembers how much, and for how many blocks; 0 blocks: until decided."""

    name: str
    coefficient: float
    blocks: int


@dataclass
class Outcome:
    """How often intervals of one situation held the truth."""

    situation: Situation
    count: int = 0
    covered: int = 0
    warned: int = 0
    failing_warned: int = 0
    bounded: int = 0
    by_logarithm: int = 0
    spent: int = 0
    late: int = 0
    late_covered: int = 0

    def problems(self) -> Iterator[str]:
        """The promises that are not kept, beyond chance."""
        asked, covered, count = self.situation, self.covered, self.count
        lowest = HIDDEN.get(asked.name, LOWEST)
        if 0 < asked.blocks < FEWEST_BLOCKS and asked.coefficient:
            lowest = STATED[asked.coefficient, asked.blocks]
        if is_below(covered, count, lowest):
            yield f"{asked}: covers {100 * covered / count:.1f} %"
        if self.bounded < count:
            yield f"{asked}: {count - self.bounded} intervals without bounds, which always hold"


def situations() -> Iterator[Situation]:
    """Everything that is simulated."""
    for coefficient in (0.5, 0.8):
        for blocks in (10, 20, 30, 100, 300, 0):
            yield Situation("remembers", coefficient, blocks)
    for name in ("normal 50 %", "lognormal 50 %"):
        for blocks in (3, 4, 6):
            yield Situation(name, 0.0, blocks)
    for name in HIDDEN:
        yield Situation(name, 0.0, 0)


def hidden(generator: np.random.Generator, name: str, blocks: int) -> Array:
    """Two programs with the mean 1, of which few blocks do not show it."""
    noise = generator.standard_normal((2, blocks))
    if name.startswith("a cycle"):
        begins = 2 * pi * generator.random((2, 1))
        return 1.0 + 0.01 * noise + 0.02 * np.sin(2 * pi * np.arange(blocks) / 94 + begins)
    values = 1.0 + 0.003 * noise
    values[0] *= np.where(generator.random(blocks) < 0.05, 1.3, 1.0) / 1.015
    return values


def remembering(
    generator: np.random.Generator, coefficient: float, shape: tuple[int, int]
) -> Array:
    """Stationary normal values with mean 1, of which each keeps a share of the one before."""
    noise = generator.standard_normal(shape)
    values = np.empty(shape)
    values[:, 0] = noise[:, 0]
    for block in range(1, shape[1]):
        fresh = sqrt(1.0 - coefficient**2) * noise[:, block]
        values[:, block] = coefficient * values[:, block - 1] + fresh
    return 1.0 + NOISE * values


def simulate(situation: Situation, experiments: int) -> Outcome:
    """Many experiments of one situation."""
    generator = np.random.default_rng(derive_seed(1, "dependent", repr(situation)))
    outcome = Outcome(situation)
    for number in range(experiments):
        blocks = situation.blocks or LONGEST
        if situation.coefficient:
            values = remembering(generator, situation.coefficient, (2, blocks))
        elif situation.name in HIDDEN:
            values = hidden(generator, situation.name, blocks)
        else:
            draw = (lognormal if situation.name.startswith("log") else normal)(0.5)
            values = np.maximum(draw(generator, (2, blocks)), 0.02)
        stopped: StopReason = "runs"
        spec = StoppingSpec(runs=blocks)
        if situation.blocks == 0:
            spec = StoppingSpec(until="decided")
            end = end_of(values, spec, 0, decided_at(values, spec))
            if number < CHECKED_AGAINST_REAL:
                held_to_the_real_rule(values, spec, 0, end)
            stopped, blocks = ("decided", end) if end else ("budget", LONGEST)
        _judge(outcome, values[:, :blocks], spec, stopped)
    return outcome


def _judge(outcome: Outcome, values: Array, spec: StoppingSpec, stopped: StopReason) -> None:
    tool = inference(2, spec, stopped=stopped)
    (interval,), warned = judge_ratios(tool, top_levels(values.tolist()))
    held = covers(interval, TRUE_RATIO)
    outcome.count += 1
    outcome.covered += held
    outcome.warned += warned
    outcome.failing_warned += warned and not held
    bounded = isinstance(interval, Estimate)
    outcome.bounded += bounded
    outcome.by_logarithm += bounded and interval.method.startswith("log-delta")
    outcome.spent += values.shape[1]
    late = values.shape[1] >= FEWEST_BLOCKS
    outcome.late += late
    outcome.late_covered += late and held


def report(outcomes: Sequence[Outcome], experiments: int) -> list[str]:
    """The table for the docs."""
    header = (
        *("values", "keeps", "blocks", "coverage %", "of 20 blocks and more %"),
        *("warned %", "of the failing warned %", "bounded %", "by the logarithm %"),
    )
    title = f"### Programs that remember, and few noisy blocks, {experiments} experiments each"
    return [title, "", *table(header, map(_row, outcomes)), ""]


def _row(outcome: Outcome) -> Sequence[str]:
    asked, count = outcome.situation, outcome.count
    failing = count - outcome.covered
    blocks = str(asked.blocks or f"decided, {outcome.spent / count:.0f}")
    late = f"{100 * outcome.late_covered / outcome.late:.1f}" if outcome.late else "–"
    return (
        *(asked.name, f"{asked.coefficient:g}", blocks, f"{100 * outcome.covered / count:.1f}"),
        *(late, f"{100 * outcome.warned / count:.1f}"),
        f"{100 * outcome.failing_warned / failing:.1f}" if failing else "–",
        *(f"{100 * n / count:.1f}" for n in (outcome.bounded, outcome.by_logarithm)),
    )


def main() -> int:
    """Simulates everything; the exit status."""
    return prove(
        Proof(
            module="benchmarks.prove.dependent",
            description=__doc__ or "",
            section="prove-dependent",
            experiments=EXPERIMENTS,
            situations=list(situations()),
            simulate=simulate,
            report=report,
            problems=Outcome.problems,
        )
    )


if __name__ == "__main__":
    sys.exit(main())
