"""Proves variance components, counts and predictions by simulation with a known truth.

    python -m benchmarks.prove.dimensioned [--experiments N] [--no-docs]

Writes its tables into docs/STATISTICS.md. Exit status 1 where a promise is not kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from math import inf, log, prod, sqrt

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from benchmarks.prove.proof_page import Proof, is_above, is_below, prove, table
from steelyard.analysis.dimensioning.dimensioning_agreement import LEVEL, agreement, mean_squares
from steelyard.analysis.dimensioning.precision import FEWEST_REPETITIONS, Prediction
from steelyard.analysis.dimensioning.repetition_counts import (
    optimal_counts,
    rounded_up,
    top_variance,
    unit_time_s,
)
from steelyard.analysis.dimensioning.suggested_repetitions import Dimensioning, dimensioning
from steelyard.analysis.intervals.fieller import unpaired_fieller
from steelyard.analysis.intervals.mean import mean_interval
from steelyard.analysis.variance.nested_values import NestedValues, nested_values
from steelyard.analysis.variance.variance_components import variance_components
from steelyard.core.estimate import Estimate, Interval
from steelyard.core.rng import derive_seed

Array = NDArray[np.float64]

EXPERIMENTS = 10_000
LEVELS = ("machine", "build", "execution", "iteration")
TRUE_RATIO = 0.95
# Promised: bias of an unbiased estimator, coverage of 95 % intervals, realised half-width.
BIAS_RATIO = 0.01
LOWEST, HIGHEST = 0.94, 0.96
HALF_WIDTH_ERROR = 0.1
# Intervals of components, whatever the effects are.
LOWEST_COMPONENT = 0.93
# Told of experiments that agree: 1 % is aimed at; the F test is approximate.
MOST_DISAGREEING = 0.02
# One in so many real experiments is compared with its initial one, which takes its time.
COMPARED_EVERY = 5


@dataclass(frozen=True)
class Situation:
    """An initial experiment with a known truth: everything highest level first."""

    name: str
    counts: tuple[int, ...]
    variations: tuple[float, ...]
    costs_s: tuple[float, ...]
    missing: float = 0.0
    effects: str = "normal"
    components_alone: bool = False

    @property
    def skewed(self) -> bool:
        """Whether effects are lognormal, so that later experiments are promised little."""
        return self.effects == "lognormal"

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of its repetition levels."""
        return LEVELS[-len(self.counts) :]

    @property
    def variances(self) -> tuple[float, ...]:
        """The true components; the mean is 1."""
        return tuple(variation * variation for variation in self.variations)

    @property
    def wanted(self) -> float:
        """The half-width of the real experiments, relative to the mean."""
        return 0.1 if self.skewed else 0.01


SITUATIONS = (
    Situation("2 levels", (30, 30), (0.03, 0.05), (10.0, 1.0)),
    Situation("3 levels", (30, 10, 10), (0.02, 0.03, 0.05), (60.0, 10.0, 1.0)),
    Situation("4 levels", (30, 6, 6, 6), (0.03, 0.02, 0.03, 0.05), (300.0, 60.0, 10.0, 1.0)),
    Situation("2 levels, 40 % missing", (30, 30), (0.03, 0.05), (10.0, 1.0), 0.4),
    Situation("3 levels, 40 % missing", (30, 10, 10), (0.02, 0.03, 0.05), (60.0, 10.0, 1.0), 0.4),
    Situation("3 levels, skewed", (30, 10, 10), (0.2, 0.3, 0.5), (60.0, 10.0, 1.0),
              effects="lognormal"),
    *(
        Situation(f"{' × '.join(map(str, counts))}, {effects}", counts, (0.1,) * len(counts),
                  (60.0, 10.0, 1.0)[-len(counts):], effects=effects, components_alone=True)
        for counts in ((20, 10), (20, 5, 5), (6, 10, 10), (30,))
        for effects in ("normal", "exponential", "t5", "laplace", "uniform")
    ),
)  # fmt: skip


# The factor that the interval of a standard deviation spans at the top, at the median: what is wide
# enough holds always.
WIDEST = {"30, normal": 2.4, "20 × 10, normal": 3.6}


@dataclass
class Outcome:
    """What came of the experiments of one situation."""

    situation: Situation
    variances: list[list[float]] = field(default_factory=list)
    biased: list[list[float]] = field(default_factory=list)
    held: list[list[bool]] = field(default_factory=list)
    top_spans: list[float] = field(default_factory=list)
    mean_held: list[bool] = field(default_factory=list)
    ratio_held: list[bool] = field(default_factory=list)
    realised: list[float] = field(default_factory=list)
    disagreed: list[bool] = field(default_factory=list)

    def problems(self) -> Iterator[str]:
        """Promises that were not kept. Intervals of components hold whatever effects are; later
        experiments are promised nothing where these are skewed."""
        truth = np.array(self.situation.variances)
        bias = np.abs(np.mean(self.variances, axis=0) / truth - 1)
        error = np.std(self.variances, axis=0) / truth / sqrt(len(self.variances))
        if (bias > np.maximum(BIAS_RATIO, 3 * error)).any():
            yield "biased"
        holding = np.array(self.held).sum(axis=0)
        for level, held in zip(self.situation.levels, holding.tolist(), strict=True):
            if is_below(held, len(self.held), LOWEST_COMPONENT):
                share = held / len(self.held)
                yield f"interval of the variance of {level} holds in {share:.4f}"
        widest = WIDEST.get(self.situation.name, inf)
        if np.median(self.top_spans) > widest:
            yield f"interval at the top spans a factor of {np.median(self.top_spans):.1f}"
        if self.situation.skewed or self.situation.components_alone:
            return
        for name, held in (("mean", self.mean_held), ("ratio", self.ratio_held)):
            holding, of = sum(held), len(held)
            if is_below(holding, of, LOWEST) or is_above(holding, of, HIGHEST):
                yield f"coverage of the {name} {np.mean(held):.4f}"
        if abs(np.mean(self.realised) - 1) > HALF_WIDTH_ERROR:
            yield f"half-width {np.mean(self.realised):.3f} of the predicted one"
        told = sum(self.disagreed)
        if is_above(told, len(self.disagreed), MOST_DISAGREEING):
            share = told / len(self.disagreed)
            yield f"disagreement told in {share:.4f} of experiments that agree"


def draw(generator: np.random.Generator, counts: Sequence[int], situation: Situation) -> Array:
    """Measurements with mean 1, each level adding its own effects."""
    values = np.ones(counts)
    for depth, variation in enumerate(situation.variations):
        shape = (*counts[: depth + 1], *[1] * (len(counts) - depth - 1))
        values = values + variation * standard_effects(generator, shape, situation, variation)
    return values


def standard_effects(
    generator: np.random.Generator, shape: Sequence[int], situation: Situation, variation: float
) -> Array:
    """Effects with mean 0 and variance 1."""
    effects = situation.effects
    if effects == "exponential":
        return generator.exponential(size=shape) - 1
    if effects == "t5":
        return generator.standard_t(5, shape) / sqrt(5 / 3)
    if effects == "laplace":
        return generator.laplace(size=shape) / sqrt(2)
    if effects == "uniform":
        return (generator.random(shape) - 0.5) * sqrt(12)
    noise = generator.standard_normal(shape)
    if effects == "lognormal":
        square = log(1 + variation * variation)
        noise = (np.exp(sqrt(square) * noise - square / 2) - 1) / variation
    return noise


def template(situation: Situation, seed: int) -> tuple[NestedValues, NDArray[np.bool_]]:
    """The nesting of the initial experiment, and which of its places have a value."""
    kept = np.random.default_rng(seed).random(prod(situation.counts)) >= situation.missing
    labels = [place.ravel()[kept].astype(np.int64) for place in np.indices(situation.counts)]
    return nested_values(situation.levels, labels, np.ones(int(kept.sum()))), kept


def real_values(
    generator: np.random.Generator, answer: Dimensioning, situation: Situation, top_count: int
) -> Array:
    """A real experiment with the counts that were chosen."""
    counts = (top_count, *(answer.counts[level] for level in situation.levels[1:]))
    return draw(generator, counts, situation)


def top_means(values: Array) -> list[float]:
    """The means of the top level."""
    return values.mean(axis=tuple(range(1, values.ndim))).tolist()


def disagrees(answer: Dimensioning, values: Array, situation: Situation) -> bool:
    """Whether a real experiment is said to vary otherwise than its initial one."""
    labels = [place.ravel().astype(np.int64) for place in np.indices(values.shape)]
    components = answer.components
    initial = mean_squares(components.levels, components.mean.estimate or 1.0)
    found = agreement(initial, nested_values(situation.levels, labels, values.ravel()))
    return any(level.p < LEVEL / len(found) for level in found)


def simulate(situation: Situation, experiments: int) -> Outcome:
    """Initial experiments, each followed by a real one of two systems at the chosen counts."""
    seed = derive_seed(1, "dimensioned", situation.name)
    generator = np.random.default_rng(seed)
    empty, kept = template(situation, seed)
    costs_s = dict(zip(situation.levels, situation.costs_s, strict=True))
    outcome = Outcome(situation)
    for _ in range(experiments):
        values = draw(generator, situation.counts, situation).ravel()[kept]
        components = variance_components(replace(empty, values=values), 0.95)
        found = [level.variance for level in components.levels]
        outcome.variances.append([variance.estimate or 0.0 for variance in found])
        outcome.biased.append([level.biased_variance or 0.0 for level in components.levels])
        outcome.held.append(
            [
                isinstance(v, Estimate) and v.low <= truth <= v.high
                for v, truth in zip(found, situation.variances, strict=True)
            ]
        )
        outcome.top_spans.append(span_of(found[0]))
        if situation.components_alone:
            continue
        answer = dimensioning(components, costs_s)
        prediction = predicted(answer, situation.wanted)
        if prediction is not None:
            real_experiment(generator, answer, outcome, *prediction)
    return outcome


def span_of(variance: Interval) -> float:
    """The upper over the lower bound of the standard deviation; infinite where one is missing."""
    if not isinstance(variance, Estimate) or variance.low <= 0:
        return inf
    return sqrt(variance.high / variance.low)


def predicted(answer: Dimensioning, wanted: float) -> tuple[int, float] | None:
    """The repetitions of the top level for a half-width, and the one predicted for them."""
    levels = answer.components.levels
    variance = top_variance(
        [level.variance.estimate or 0.0 for level in levels], list(answer.counts.values())
    )
    mean = answer.components.mean
    prediction = Prediction(sqrt(variance) / (mean.estimate or 1.0), mean.confidence, None)
    found = prediction.fewest(wanted)
    return None if found is None else (found, prediction.half_width_ratio(found))


def real_experiment(
    generator: np.random.Generator,
    answer: Dimensioning,
    outcome: Outcome,
    top_count: int,
    half_width_ratio: float,
) -> None:
    """Two systems, the second TRUE_RATIO as slow, at the chosen counts."""
    values = real_values(generator, answer, outcome.situation, top_count)
    baseline = top_means(values)
    candidate = top_means(real_values(generator, answer, outcome.situation, top_count))
    if len(outcome.mean_held) % COMPARED_EVERY == 0:
        outcome.disagreed.append(disagrees(answer, values, outcome.situation))
    mean = mean_interval(baseline, 0.95)
    ratio = unpaired_fieller(baseline, [TRUE_RATIO * value for value in candidate], 0.95)
    if isinstance(mean, Estimate):
        outcome.mean_held.append(mean.low <= 1.0 <= mean.high)
        outcome.realised.append(mean.half_width / mean.estimate / half_width_ratio)
    outcome.ratio_held.append(
        not isinstance(ratio, Estimate) or ratio.low <= TRUE_RATIO <= ratio.high
    )


def time_to_precision_s(situation: Situation, counts: Sequence[int]) -> float:
    """The time until the half-width is as wanted, with the true components; counts may be any."""
    deviation = sqrt(top_variance(situation.variances, counts))
    prediction = Prediction(deviation, 0.95, None)
    for top_count in count(FEWEST_REPETITIONS):
        if prediction.half_width_ratio(top_count) <= situation.wanted:
            return top_count * unit_time_s(situation.costs_s, counts)
    raise AssertionError("counts without end")


def equal_time_s(situation: Situation) -> float:
    """The time with one count for all levels."""
    below = len(situation.counts) - 1
    for repetitions in count(FEWEST_REPETITIONS):
        deviation = sqrt(top_variance(situation.variances, [repetitions] * below))
        if Prediction(deviation, 0.95, None).half_width_ratio(repetitions) <= situation.wanted:
            return repetitions * unit_time_s(situation.costs_s, [repetitions] * below)
    raise AssertionError("counts without end")


def savings(situation: Situation) -> tuple[list[int], float, float]:
    """The optimal counts, and the time of the two usual designs over that of the optimum."""
    counts = [rounded_up(c) for c in optimal_counts(situation.variances, situation.costs_s)]
    best_s = time_to_precision_s(situation, counts)
    only_top_s = time_to_precision_s(situation, [1] * len(counts))
    return counts, only_top_s / best_s, equal_time_s(situation) / best_s


def _component_rows(outcome: Outcome) -> Iterator[list[str]]:
    truth = outcome.situation.variances
    means, biased = np.mean(outcome.variances, axis=0), np.mean(outcome.biased, axis=0)
    error, held = np.std(outcome.variances, axis=0), np.mean(outcome.held, axis=0)
    for place, level in enumerate(outcome.situation.levels):
        yield [
            outcome.situation.name,
            level,
            f"{100 * (means[place] / truth[place] - 1):+.2f}",
            f"{100 * error[place] / truth[place] / sqrt(len(outcome.variances)):.2f}",
            f"{100 * (biased[place] / truth[place] - 1):+.1f}",
            f"{100 * held[place]:.1f}",
        ]


def _design_row(outcome: Outcome) -> list[str]:
    counts, only_top, equal = savings(outcome.situation)
    return [
        outcome.situation.name,
        " × ".join(map(str, counts)),
        f"{100 * np.mean(outcome.mean_held):.1f}",
        f"{100 * np.mean(outcome.ratio_held):.1f}",
        f"{np.mean(outcome.realised):.3f}",
        f"{100 * np.mean(outcome.disagreed):.1f}",
        f"{only_top:.2f}",
        f"{equal:.2f}",
    ]


def report(outcomes: Sequence[Outcome], experiments: int) -> list[str]:
    """The tables in Markdown."""
    components = ["initial experiment", "level", "bias of T² %", "its standard error %"]
    components += ["bias of S² %", "interval of σ² holds %"]
    designs = ["initial experiment", "counts below the top", "mean holds %", "ratio holds %"]
    designs += ["half-width realised / predicted", "disagreement told %"]
    designs += ["time, top level only / optimum", "time, equal counts / optimum"]
    rows = [row for outcome in outcomes for row in _component_rows(outcome)]
    return [
        "",
        f"### Dimensioning, {experiments} experiments each",
        "",
        *table(components, rows),
        "",
        *table(designs, [_design_row(outcome) for outcome in outcomes if outcome.mean_held]),
        "",
    ]


def problems(outcome: Outcome) -> list[str]:
    """What is wrong with one outcome, by its name."""
    return [f"{outcome.situation.name}: {problem}" for problem in outcome.problems()]


PROOF = Proof(
    "benchmarks.prove.dimensioned",
    __doc__ or "",
    "prove dimensioning",
    EXPERIMENTS,
    SITUATIONS,
    simulate,
    report,
    problems,
)

if __name__ == "__main__":
    sys.exit(prove(PROOF))
