"""Intervals of values that resemble the ones before them."""

import numpy as np
import pytest

from steelyard.analysis.comparison.experiment_answer import answer
from steelyard.analysis.intervals.autoregression import (
    memory_of,
    resemblance_p,
    resembles,
    suspected,
)
from steelyard.analysis.intervals.fieller import paired_fieller
from steelyard.analysis.intervals.paired_ratio import dependent_interval
from steelyard.core.estimate import Estimate
from steelyard.core.rng import derive_seed
from tests.unit.analysis.comparison.test_experiment_answer import codes, make


def autoregressive(coefficient, shape, name="a"):
    generator = np.random.default_rng(derive_seed(1, name, int(100 * coefficient)))
    noise = generator.standard_normal(shape)
    values = np.empty(shape)
    values[..., 0] = noise[..., 0] / (1 - coefficient**2) ** 0.5
    for i in range(1, shape[-1]):
        values[..., i] = coefficient * values[..., i - 1] + noise[..., i]
    return values


def coverage(coefficient, count, experiments=400):
    """Of ratios whose variants each remember, and of the interval that does not allow for it."""
    pairs = 1 + 0.02 * autoregressive(coefficient, (2, experiments, count))
    held = plain = 0
    for x, y in zip(pairs[0].tolist(), pairs[1].tolist(), strict=True):
        found = dependent_interval(x, y, 0.95, 1.0)
        without = paired_fieller(x, y, 0.95)
        found = without if found is None else found
        held += not isinstance(found, Estimate) or found.low <= 1 <= found.high
        plain += without.low <= 1 <= without.high
    return held / experiments, plain / experiments


@pytest.mark.parametrize(("coefficient", "count"), [(0.5, 30), (0.8, 30), (0.8, 100)])
def test_ratios_of_programs_that_remember_hold_the_truth(coefficient, count):
    held, plain = coverage(coefficient, count)
    assert held > 0.93 - 3 * (0.93 * 0.07 / 400) ** 0.5
    assert plain < 0.8


def test_independent_blocks_keep_their_interval_in_nineteen_of_twenty_cases():
    values = autoregressive(0.0, (1000, 60)).tolist()
    assert sum(map(resembles, values)) / 1000 < 0.08


def test_moments_of_the_first_autocorrelation_are_those_of_independent_values():
    p = [resemblance_p(row) for row in autoregressive(0.0, (2000, 25), "m").tolist()]
    assert np.mean(np.array(p) < 0.1) == pytest.approx(0.1, abs=0.025)
    assert np.mean(np.array(p) < 0.5) == pytest.approx(0.5, abs=0.04)


def test_the_inflation_is_that_of_the_mean_of_an_autoregression():
    """Its variance in 20,000 simulated means, over that of the sample variance."""
    count, coefficient = 40, 0.6
    values = autoregressive(coefficient, (20_000, count), "v")
    wanted = values.mean(axis=1).var() / (values.var(axis=1, ddof=1).mean() / count)
    inflations = [memory_of(row).inflation for row in values[:2000].tolist()]
    # Half a standard error on the safe side: the median lies above, and not by much.
    assert wanted < np.median(inflations) < 2 * wanted


def test_memory_is_bounded_however_the_values_go():
    memory = memory_of([float(i) for i in range(30)])
    assert memory.coefficient <= 0.97
    assert memory.degrees >= 1.0
    assert np.isfinite(memory.inflation)
    still = memory_of([(-1.0) ** i for i in range(30)])
    assert (still.coefficient, still.inflation) == (0.0, 1.0)
    assert still.degrees == pytest.approx(29)


def test_a_mean_that_drifts_keeps_an_interval_of_the_session():
    """22 values 2 % apart that rise: the mean of this session is known better than to 5 %."""
    rising = [[180.0 + 0.5 * i + 0.3 * (-1.0) ** i] for i in range(22)]
    mean = answer(make(rising)).variants[0].metrics["wall_time"].summary.mean
    assert mean.method == "cosine-series-blocks"
    assert mean.half_width < 0.05 * mean.estimate


def remembering(count):
    first, second = (1 + 0.02 * autoregressive(0.9, (2, count), "few")).tolist()
    return [list(row) for row in zip(first, second, strict=True)]


def test_few_blocks_that_look_dependent_are_warned_of_and_keep_their_interval():
    result = answer(make(remembering(15)))
    assert "dependence-suspected" in codes(result)
    assert result.comparisons[0].ratio.method in ("fieller-blocks", "fieller-cosine-series")
    assert not suspected([1.0, 1.1] * 6)
    assert not suspected([float(i) for i in range(30)])
