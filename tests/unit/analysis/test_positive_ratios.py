"""Ratios of times whose baseline varies so much that Fieller's set has no bounds."""

from math import exp, sqrt

import numpy as np
import pytest

from steelyard.analysis.comparison.experiment_answer import answer
from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.bootstrap import bootstrap_ratio
from steelyard.analysis.intervals.fieller import fieller_interval, paired_fieller, paired_means
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.core.rng import derive_seed
from tests.unit.analysis.comparison.test_experiment_answer import codes, make

BASELINE, CANDIDATE = [0.1, 0.5, 0.2], [4.0, 4.6, 4.3]


def test_times_that_vary_much_have_bounds_by_the_logarithm():
    found = paired_fieller(BASELINE, CANDIDATE, 0.95)
    assert isinstance(found, Estimate)
    assert found.method == "log-delta-blocks"
    assert 0 < found.low < found.estimate < found.high


def test_the_bounds_are_those_of_the_delta_method():
    means = paired_means(BASELINE, CANDIDATE)
    ratio = means.candidate / means.baseline
    contrast = [y - ratio * x for x, y in zip(BASELINE, CANDIDATE, strict=True)]
    error = float(np.std(contrast, ddof=1)) / sqrt(3) / means.candidate
    reach = student_quantile(0.975, 2) * error
    found = paired_fieller(BASELINE, CANDIDATE, 0.95)
    assert (found.low, found.high) == pytest.approx((ratio * exp(-reach), ratio * exp(reach)))


def test_values_that_may_be_below_0_keep_their_unbounded_ratio():
    found = paired_fieller([-0.1, 0.5, 0.2], CANDIDATE, 0.95)
    assert isinstance(found, Unbounded)
    assert (found.reason, found.estimate) == ("baseline-near-zero", pytest.approx(4.3 / 0.2))
    quantile = student_quantile(0.975, 2)
    means = paired_means(BASELINE, CANDIDATE)
    of_means = fieller_interval(means, quantile, 0.95, "m")
    assert isinstance(of_means, Unbounded)
    assert (of_means.method, of_means.reason) == ("m", "baseline-near-zero")
    assert of_means.estimate == pytest.approx(12.9 / 0.8)


def test_a_far_slower_program_is_so_in_three_blocks():
    (comparison,) = answer(make(list(zip(BASELINE, CANDIDATE, strict=True)))).comparisons
    assert comparison.verdict == "slower"
    assert comparison.ratio.method == "log-delta-blocks"


def test_why_a_ratio_has_no_bounds_is_told_once():
    result = answer(make([[-0.1, 4.0], [0.5, 4.6], [0.2, 4.3]]))
    (message,) = [c.message for c in result.cautions if c.code == "unbounded-ratio"]
    assert result.comparisons[0].ratio.explanation not in message


def test_the_bootstrap_is_never_nearer_than_student_with_outliers():
    generator = np.random.default_rng(derive_seed(1, "outliers"))
    for seed in range(10):
        x, y = (1 + 0.01 * generator.standard_normal((2, 20))).tolist()
        y[seed] *= 1.3
        drawn = bootstrap_ratio(x, y, 0.95, seed, resample_count=999)
        plain = paired_fieller(x, y, 0.95)
        assert drawn.low <= plain.low * (1 + 1e-12)
        assert drawn.high >= plain.high * (1 - 1e-12)


def test_clean_values_are_seldom_called_skewed():
    generator = np.random.default_rng(derive_seed(1, "clean"))
    told = [
        "skewed" in codes(answer(make(rows)))
        for rows in (1 + 0.02 * generator.standard_normal((150, 20, 2))).tolist()
    ]
    assert np.mean(told) < 0.08
