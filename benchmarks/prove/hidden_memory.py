"""Shows what fewer than 20 blocks can't show of programs that remember, and the price of asking.

    python -m benchmarks.prove.hidden_memory [--experiments N] [--no-docs]

How often the most powerful test of an autoregression against independence that ignores location
and scale, told the coefficient, rejects the sequences whose interval fails: the ratio of the
likelihoods of what is left after the mean (Lehmann and Romano, *Testing Statistical Hypotheses*,
2005, section 6.3). And how many blocks comparisons until decided need of programs that remember
nothing, with and without `confirming_interval`. Exit status 1 where the price is above a quarter
more at the mean.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from benchmarks.prove.deciding import decided_at, end_of
from benchmarks.prove.dependent import remembering
from benchmarks.prove.proof_page import Proof, prove, table
from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.paired_ratio import dependent_interval
from steelyard.core.rng import derive_seed
from steelyard.core.stopping_spec import StoppingSpec

Array = NDArray[np.float64]
EXPERIMENTS = 10_000
FALSE_ALARMS = 0.1
LONGEST = 200
LARGEST_PRICE_RATIO = 1.25
SPEC = StoppingSpec(until="decided")


@dataclass(frozen=True)
class Hidden:
    """Sequences of so many blocks that keep so much of the last value."""

    coefficient: float
    blocks: int


@dataclass(frozen=True)
class Clear:
    """Programs that remember nothing, whose ratio is so far from 1."""

    ratio: float
    noise: float


@dataclass(frozen=True)
class Found:
    """Shares of sequences for `Hidden`, mean blocks without and with asking for `Clear`."""

    situation: Hidden | Clear
    first: float
    second: float


SITUATIONS: list[Hidden | Clear] = [
    *(Hidden(keeps, blocks) for keeps in (0.5, 0.8) for blocks in (10, 15, 19)),
    *(Clear(1.1, noise) for noise in (0.01, 0.02)),
    Clear(1.05, 0.01),
    *(Clear(1.02, noise) for noise in (0.005, 0.01)),
    *(Clear(1.0, noise) for noise in (0.003, 0.005)),
]


def simulate(situation: Hidden | Clear, experiments: int) -> Found:
    """Many sequences, or many comparisons."""
    generator = np.random.default_rng(derive_seed(1, "hidden", repr(situation)))
    if isinstance(situation, Hidden):
        return _rejected(situation, generator, experiments)
    return _spent(situation, generator, experiments)


def _rejected(asked: Hidden, generator: np.random.Generator, experiments: int) -> Found:
    shape = (experiments, asked.blocks)
    ratio = _likelihood_ratio(asked)
    critical = float(np.quantile(ratio(generator.standard_normal(shape)), 1.0 - FALSE_ALARMS))
    values = remembering(generator, asked.coefficient, shape) - 1.0
    errors = values.std(axis=1, ddof=1) / sqrt(asked.blocks)
    fails = np.abs(values.mean(axis=1)) > student_quantile(0.975, asked.blocks - 1) * errors
    rejected = ratio(values) > critical
    return Found(asked, float(rejected.mean()), float(rejected[fails].mean()))


def _likelihood_ratio(asked: Hidden) -> Callable[[Array], Array]:
    """Of each row: sums of squares under independence over those under the autoregression."""
    numbers = np.arange(asked.blocks)
    inverse = np.linalg.inv(asked.coefficient ** np.abs(np.subtract.outer(numbers, numbers)))
    weights = inverse.sum(axis=0)
    form = inverse - np.outer(weights, weights) / weights.sum()

    def ratio(values: Array) -> Array:
        rest = values - values.mean(axis=1, keepdims=True)
        return (rest**2).sum(axis=1) / np.einsum("ij,jk,ik->i", rest, form, rest)

    return ratio


def _spent(asked: Clear, generator: np.random.Generator, experiments: int) -> Found:
    without = asking = 0
    for _ in range(experiments):
        values = 1.0 + asked.noise * generator.standard_normal((2, LONGEST))
        values[1] *= asked.ratio
        decided = decided_at(values, SPEC)
        without += end_of(values, SPEC, 0, decided, dependent_interval) or LONGEST
        asking += end_of(values, SPEC, 0, decided) or LONGEST
    return Found(asked, without / experiments, asking / experiments)


def report(outcomes: Sequence[Found], experiments: int) -> list[str]:
    """Both tables for the docs."""
    hidden = [
        (f"{of.coefficient:g}", str(of.blocks), f"{100 * x.first:.0f}", f"{100 * x.second:.0f}")
        for x in outcomes
        if isinstance(of := x.situation, Hidden)
    ]
    clear = [
        (f"{of.ratio:g}", f"{100 * of.noise:g}", f"{x.first:.1f}", f"{x.second:.1f}")
        for x in outcomes
        if isinstance(of := x.situation, Clear)
    ]
    return [
        f"### What few blocks can't show, {experiments} experiments each",
        "",
        *table(("keeps", "blocks", "the best test rejects %", "of the failing %"), hidden),
        "",
        *table(("true ratio", "noise %", "mean blocks", "confirmed, mean blocks"), clear),
        "",
    ]


def problems(found: Found) -> Iterator[str]:
    """A price that is too high."""
    if isinstance(found.situation, Clear) and found.second > LARGEST_PRICE_RATIO * found.first:
        yield f"{found.situation}: {found.second:.1f} blocks instead of {found.first:.1f}"


PROOF = Proof(
    "benchmarks.prove.hidden_memory",
    __doc__ or "",
    "prove-hidden-memory",
    EXPERIMENTS,
    SITUATIONS,
    simulate,
    report,
    problems,
)

if __name__ == "__main__":
    sys.exit(prove(PROOF))
