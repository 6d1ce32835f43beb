"""Coverage when the experiment stops itself by its precision.

When it stops is found by a vectorised twin of `steelyard.analysis.comparison.stopping.Stopping`,
which is held to the real one on some experiments of every situation (and for four variants is the
real one); intervals and cautions come from the functions that answer a real experiment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from benchmarks.prove.judging import (
    Tally,
    covers,
    inference,
    is_bounded,
    judge_mean,
    judge_ratios,
    top_levels,
)
from benchmarks.prove.time_populations import DRIFTS, POPULATIONS, VARIATIONS, mean_of_seen
from steelyard.analysis.comparison.experiment_intervals import Inference
from steelyard.analysis.comparison.stopping import Stopping, first_look, widening_after
from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.error_spending import ONE_LOOK, Spending, spending_of
from steelyard.analysis.intervals.johnson import FARTHEST
from steelyard.analysis.intervals.mean import two_sided
from steelyard.core.rng import derive_seed
from steelyard.core.stopping_spec import MEAN_MINIMUM_BLOCKS, StoppingSpec

Array = NDArray[np.float64]
TRUE_RATIO = 0.95
CONFIDENCE = 0.95
# Blocks at which the half-width would be as wanted if the variance were known.
IDEAL_COUNTS = (5, 15, 50, 150)
_CHECKED_AGAINST_REAL = 25
_CHUNK_VALUES = 400_000


def situations() -> Iterator[tuple[int, str, str, int]]:
    """Numbers of variants, populations, drifts, ideal numbers of blocks."""
    for ideal in IDEAL_COUNTS:
        for population in POPULATIONS:
            yield 1, population, "none", ideal
            yield 2, population, "none", ideal
            if ideal in (15, 50):
                yield 2, population, "random walk", ideal
    for ideal in IDEAL_COUNTS[:3]:
        yield 4, "normal 5 %", "none", ideal


def simulate(
    variant_count: int, population: str, drift: str, ideal_count: int, experiment_count: int
) -> list[Tally]:
    """Experiments that stop when every half-width is as wanted."""
    generator = np.random.default_rng(
        derive_seed(1, "stopped", variant_count, population, drift, ideal_count)
    )
    spec = _precision(variant_count, population, ideal_count)
    longest = 3 * ideal_count + 100
    quantity = {1: "mean", 2: "ratio"}.get(variant_count, f"{variant_count - 1} ratios")
    tally = Tally(quantity, (population, drift, str(ideal_count)))
    tool = inference(variant_count, spec)
    rows = max(1, _CHUNK_VALUES // longest)
    for start in range(0, experiment_count, rows):
        count = min(rows, experiment_count - start)
        values = _values(generator, population, drift, (variant_count, count, longest))
        stops = _stops(values, spec)
        for experiment, stop in enumerate(stops.tolist()):
            columns = values[:, experiment, :stop].tolist()
            _judge(tally, tool, columns, population)
    return [tally]


def _precision(variant_count: int, population: str, ideal_count: int) -> StoppingSpec:
    deviation = VARIATIONS[population]
    if variant_count > 1:
        deviation *= sqrt(2.0) * TRUE_RATIO
    wanted = student_quantile(two_sided(CONFIDENCE), 1e6) * deviation / sqrt(ideal_count)
    if variant_count > 1:
        return StoppingSpec(precision_ratio=wanted)
    return StoppingSpec(precision_ratio=wanted, minimum_blocks=MEAN_MINIMUM_BLOCKS)


def _values(
    generator: np.random.Generator, population: str, drift: str, shape: tuple[int, int, int]
) -> Array:
    disturbance = DRIFTS[drift](generator, shape[1:])
    values = disturbance * POPULATIONS[population](generator, shape)
    values[1:] *= TRUE_RATIO
    return values


def _judge(
    tally: Tally, tool: Inference, columns: Sequence[Sequence[float]], population: str
) -> None:
    levels = top_levels(columns)
    if len(columns) == 1:
        interval, warned = judge_mean(tool, levels)
        seen = covers(interval, mean_of_seen(population, columns[0]))
        held, bounded = covers(interval, 1.0), is_bounded(interval)
        tally.add(held, warned, len(columns[0]), seen=seen, bounded=bounded)
        return
    intervals, warned = judge_ratios(tool, levels)
    all_cover = all(covers(interval, TRUE_RATIO) for interval in intervals)
    tally.add(all_cover, warned, len(columns[0]), bounded=all(map(is_bounded, intervals)))


def _stops(values: Array, spec: StoppingSpec) -> NDArray[np.int64]:
    """The number of blocks at which each experiment stops; all where none is precise enough."""
    if len(values) > 2:
        experiments = np.moveaxis(values, 0, 2).tolist()
        return np.array([_real_stop(blocks, spec) for blocks in experiments])
    spending = ONE_LOOK if len(values) == 1 else spending_of(spec, "precision")
    stops = twin_stops(values, spec, spending)
    checked = np.moveaxis(values[:, :_CHECKED_AGAINST_REAL], 0, 2).tolist()
    real = [_real_stop(blocks, spec) for blocks in checked]
    if real != stops[:_CHECKED_AGAINST_REAL].tolist():
        raise AssertionError(f"the vectorised twin stops elsewhere than Stopping: {spec}")
    return stops


def _real_stop(blocks: Sequence[Sequence[float]], spec: StoppingSpec) -> int:
    """Where the tool's own rule stops."""
    rule = Stopping(spec, len(blocks[0]), CONFIDENCE)
    for block in blocks:
        rule.add_block(block)
        if rule.block_count >= first_look(spec) and rule.look().done:
            break
    return rule.block_count


def twin_stops(values: Array, spec: StoppingSpec, spending: Spending) -> NDArray[np.int64]:
    """The same for one or two variants, all experiments at once.

    Parameters
    ----------
    values : array, shape (variants, experiments, blocks)
    spec : StoppingSpec
        A precision.
    spending : Spending
        Of the single look at the end.
    """
    longest = values.shape[2]
    blocks = np.arange(1, longest + 1)
    means = values.cumsum(axis=2) / blocks
    # About 1, so that the sums of squares lose no digits that matter here.
    centred = values - 1.0
    centred_means = means - 1.0

    def variance(first: int, second: int) -> Array:
        """Of the means, or their covariance, at every number of blocks."""
        products = (centred[first] * centred[second]).cumsum(axis=1)
        products -= blocks * centred_means[first] * centred_means[second]
        return products / (blocks * np.maximum(blocks - 1, 1))

    spent = spending.confidence(CONFIDENCE)
    quantiles = np.array(
        [
            student_quantile(two_sided(spent), max(1, block - 1)) * widening_after(block, spec)
            for block in blocks.tolist()
        ]
    )
    if len(values) == 1:
        errors = np.sqrt(np.maximum(variance(0, 0), 0.0))
        half_widths = quantiles * errors / means[0] * (1.0 + _reach(values[0], quantiles) / 2.0)
    else:
        x, y, square = means[0], means[1], quantiles**2
        leading = x * x - square * variance(0, 0)
        middle = x * y - square * variance(0, 1)
        trailing = y * y - square * variance(1, 1)
        root = np.sqrt(np.maximum(middle * middle - leading * trailing, 0.0))
        half_widths = np.where(leading > 0.0, root / np.abs(leading), np.inf)
    precise = half_widths <= spec.precision_ratio
    precise[:, : first_look(spec) - 1] = False
    precise[:, -1] = True
    return precise.argmax(axis=1) + 1


def _reach(values: Array, quantiles: Array) -> Array:
    """How much farther than Student's the bound on the side of the tail lies, at every number of
    blocks: `steelyard.analysis.intervals.johnson.reach` of all experiments at once."""
    counts = np.arange(1, values.shape[1] + 1)
    centred = values - 1.0
    first, second, third = ((centred**power).cumsum(axis=1) / counts for power in (1, 2, 3))
    spread = np.maximum(second - first**2, 1e-30)
    skewness = (third - 3.0 * first * second + 2.0 * first**3) / spread**1.5
    shift = np.abs(skewness) * (1.0 + 2.0 * quantiles**2) / (6.0 * quantiles * np.sqrt(counts))
    return np.minimum(FARTHEST, shift)
