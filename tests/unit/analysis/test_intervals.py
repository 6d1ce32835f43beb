"""Intervals at their edges: no bounds, no variance, dependence."""

from itertools import product
from math import cos, inf, pi, sqrt

import pytest

from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.bootstrap import (
    bootstrap_mean,
    bootstrap_ratio,
    studentised_quantiles,
)
from steelyard.analysis.intervals.cosine_series import (
    cosine_count,
    cosine_weights,
    long_run_mean_interval,
    long_run_means,
)
from steelyard.analysis.intervals.fieller import paired_fieller, unpaired_fieller
from steelyard.analysis.intervals.mean import mean_interval
from steelyard.analysis.intervals.simultaneous import (
    each_confidence,
    one_factor,
    sidak_quantile,
    simultaneous_quantile,
)
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.core.rng import derive_seed

HALF = sqrt(0.5)


def noise(count, name="noise"):
    return [derive_seed(5, name, index) / 2**63 - 0.5 for index in range(count)]


def test_one_value_has_no_bounds():
    for interval in (mean_interval([2.0], 0.95), paired_fieller([2.0], [1.0], 0.95)):
        assert isinstance(interval, Unbounded)
        assert interval.reason == "one-value"
    assert paired_fieller([2.0], [1.0], 0.95).estimate == 0.5


def test_values_that_are_all_alike_have_an_interval_without_width():
    assert mean_interval([3.0] * 5, 0.95).half_width == 0.0
    ratio = paired_fieller([2.0] * 5, [3.0] * 5, 0.95)
    assert (ratio.low, ratio.estimate, ratio.high) == (1.5, 1.5, 1.5)


def test_a_baseline_of_zero_has_no_ratio():
    ratio = paired_fieller([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], 0.95)
    assert isinstance(ratio, Unbounded)
    assert (ratio.reason, ratio.estimate) == ("baseline-zero", None)


def test_a_baseline_near_zero_leaves_the_outside_of_an_interval():
    baseline = [0.1, -0.2, 0.3, -0.15, 0.1]
    ratio = paired_fieller(baseline, [10.0, 10.1, 9.9, 10.0, 10.2], 0.95)
    assert isinstance(ratio, Unbounded)
    assert ratio.reason == "baseline-near-zero"
    assert "only ratios between" in ratio.explanation


def test_two_means_near_zero_leave_the_whole_line():
    ratio = paired_fieller([0.1, -0.2, 0.3, -0.1], [-0.2, 0.2, -0.1, 0.3], 0.95)
    assert isinstance(ratio, Unbounded)
    assert "no ratio at all" in ratio.explanation


@pytest.mark.parametrize(("confidence", "told"), [(0.95, "95 %"), (0.995, "99.5 %")])
def test_a_ratio_without_bounds_says_the_confidence_that_was_asked_for(confidence, told):
    ratio = paired_fieller([0.1, -0.2, 0.3, -0.1], [-0.2, 0.2, -0.1, 0.3], confidence)
    assert f"told from 0 at {told} confidence, so" in ratio.explanation


@pytest.mark.parametrize("unit", [1.0, 1e-100, 1e100])
@pytest.mark.parametrize("method", [paired_fieller, unpaired_fieller])
def test_a_ratio_hangs_on_no_unit(unit, method):
    x, y = [1.0, 1.1, 0.9, 1.05], [2.0, 2.3, 1.9, 2.1]
    found = method([unit * value for value in x], [unit * value for value in y], 0.95)
    assert isinstance(found, Estimate)
    plain = method(x, y, 0.95)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))


def test_a_disturbance_common_to_a_block_leaves_the_ratio_alone():
    blocks = [1.0, 1.5, 0.7, 1.2, 3.0]
    ratio = paired_fieller(blocks, [0.9 * block for block in blocks], 0.95)
    assert [ratio.low, ratio.high] == pytest.approx([0.9, 0.9], abs=1e-7)
    apart = unpaired_fieller(blocks, [0.9 * block for block in blocks], 0.95)
    assert isinstance(apart, Unbounded) or apart.half_width > 0.3


def test_swapping_the_variants_inverts_the_interval():
    x = [1.0 + 0.1 * value for value in noise(12, "x")]
    y = [2.0 + 0.1 * value for value in noise(12, "y")]
    there, back = paired_fieller(x, y, 0.95), paired_fieller(y, x, 0.95)
    assert [there.low, there.high] == pytest.approx([1 / back.high, 1 / back.low], rel=1e-12)


def test_variants_with_unlike_numbers_of_blocks_are_refused():
    with pytest.raises(AnalysisError, match="not 2 and 3"):
        paired_fieller([1.0, 2.0], [1.0, 2.0, 3.0], 0.95)


def test_student_refuses_what_has_no_quantile():
    for p, degrees in ((0.0, 5), (1.0, 5), (0.9, 0.0), (float("nan"), 5)):
        with pytest.raises(AnalysisError):
            student_quantile(p, degrees)
    assert student_quantile(0.025, 7) == -student_quantile(0.975, 7)
    assert student_quantile(0.5, 7) == 0.0


def test_the_simultaneous_quantile_lies_between_one_comparison_and_independent_ones():
    for degrees in (4, 30, 1000):
        one = student_quantile(0.975, degrees)
        found = simultaneous_quantile(0.95, degrees, (HALF, HALF, HALF))
        assert one < found < sidak_quantile(0.95, degrees, 3)
    assert simultaneous_quantile(0.95, 9, (0.0, 0.0)) == pytest.approx(
        sidak_quantile(0.95, 9, 2), rel=1e-7
    )
    assert each_confidence(0.95, (0.5,)) == pytest.approx(0.95, abs=1e-9)


def test_one_factor_finds_the_loadings_that_made_the_correlations():
    loadings = (0.5, 0.7, 0.9, 0.3)
    correlations = [
        [1.0 if i == j else a * b for j, b in enumerate(loadings)] for i, a in enumerate(loadings)
    ]
    assert one_factor(correlations) == pytest.approx(loadings, abs=1e-6)


def test_cosines_see_a_trend_that_student_takes_for_noise():
    values = [1.0 + 0.01 * index + 0.01 * error for index, error in enumerate(noise(40))]
    assert long_run_mean_interval(values, 0.95).half_width > (
        2 * mean_interval(values, 0.95).half_width
    )


def test_the_long_run_variance_of_unordered_noise_is_its_variance():
    values = noise(4000)
    expected = sum(value * value for value in values) / 4000**2
    means = long_run_means(values, [2 * value for value in values])
    assert means.baseline_variance == pytest.approx(expected, rel=0.3)
    assert means.covariance == pytest.approx(2 * means.baseline_variance)
    assert cosine_count(4000) == 101


def test_a_cosine_is_seen_by_its_own_weight_alone():
    wave = [7.0 + cos(pi * 2 * (i + 0.5) / 50) for i in range(50)]
    expected = [0.0] * cosine_count(50)
    expected[1] = sqrt(50 / 2)
    assert cosine_weights(wave) == pytest.approx(expected, abs=1e-12)


def test_bootstrap_quantiles_are_those_of_all_resamples():
    values = [0.0, 1.0, 3.0, 7.0]
    exact = []
    for resample in product(values, repeat=4):
        mean, deviation = sum(resample) / 4, 0.0
        if len(set(resample)) > 1:
            deviation = sqrt(sum((value - mean) ** 2 for value in resample) / 3 / 4)
        exact.append((mean - 2.75) / deviation if deviation else inf * (mean - 2.75))
    exact.sort()
    low, high = studentised_quantiles(values, 0.6, seed=1, resample_count=40_000)
    assert exact[int(0.2 * 256) - 4] <= low <= exact[int(0.2 * 256) + 4]
    assert high == pytest.approx(exact[int(0.8 * 256)], rel=0.03)


def test_bootstrap_is_one_for_one_seed_however_the_work_is_cut(monkeypatch):
    x = [1.0 + 0.1 * value for value in noise(900, "x")]
    y = [0.9 + 0.1 * value for value in noise(900, "y")]
    alone = bootstrap_ratio(x, y, 0.95, seed=4, resample_count=1500)
    monkeypatch.setattr("os.cpu_count", lambda: 5)
    assert bootstrap_ratio(x, y, 0.95, seed=4, resample_count=1500) == alone
    assert bootstrap_ratio(x, y, 0.95, seed=5, resample_count=1500) != alone


def test_bootstrap_comes_near_fieller_and_student_for_many_normal_looking_values():
    x = [1.0 + 0.1 * sum(noise(12, f"x{i}")) for i in range(300)]
    y = [0.9 + 0.1 * sum(noise(12, f"y{i}")) for i in range(300)]
    pairs = (
        (bootstrap_ratio(x, y, 0.95, 1), paired_fieller(x, y, 0.95)),
        (bootstrap_mean(x, 0.95, 1), mean_interval(x, 0.95)),
    )
    for bootstrap, exact in pairs:
        assert bootstrap.low == pytest.approx(exact.low, abs=0.1 * exact.half_width)
        assert bootstrap.high == pytest.approx(exact.high, abs=0.1 * exact.half_width)


def test_bootstrap_of_few_distinct_values_has_no_bounds():
    interval = bootstrap_mean([1.0, 1.0, 1.0, 2.0], 0.95, 1)
    assert isinstance(interval, Unbounded)
    assert interval.reason == "few-distinct-values"
    assert bootstrap_mean([2.0, 2.0], 0.95, 1).half_width == 0.0
    assert bootstrap_mean([2.0], 0.95, 1).reason == "one-value"
    assert bootstrap_ratio([2.0], [1.0], 0.95, 1).estimate == 0.5
    assert bootstrap_ratio([0.0, 0.0], [1.0, 2.0], 0.95, 1).reason == "baseline-zero"


def test_bootstrap_has_no_bounds_where_fieller_has_none():
    baseline = [0.1, -0.2, 0.3, -0.15, 0.1, 0.2, -0.3]
    candidate = [10.0, 10.1, 9.9, 10.0, 10.2, 9.7, 10.3]
    assert isinstance(paired_fieller(baseline, candidate, 0.95), Unbounded)
    assert bootstrap_ratio(baseline, candidate, 0.95, 1).reason == "baseline-near-zero"
