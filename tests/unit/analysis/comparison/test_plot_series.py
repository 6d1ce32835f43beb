import statistics

import pytest

from steelyard.analysis.comparison.plot_series import lag_pairs, quantile_points, thinned


def test_quantiles_of_normal_values_lie_on_their_line():
    normal = statistics.NormalDist(10, 2)
    values = [normal.inv_cdf((i + 0.5) / 999) for i in range(999)]
    points = quantile_points(values)
    assert points.intercept == pytest.approx(10, abs=1e-6)
    assert points.slope == pytest.approx(2, rel=5e-3)
    for x, y in list(zip(points.theoretical, points.observed, strict=True))[50:-50]:
        assert y == pytest.approx(10 + 2 * x, abs=0.02)


def test_plotting_positions_are_bloms():
    points = quantile_points([3.0, 1.0, 2.0])
    expected = statistics.NormalDist().inv_cdf((1 - 3 / 8) / 3.25)
    assert points.theoretical == pytest.approx((expected, 0.0, -expected), abs=1e-12)
    assert points.observed == (1.0, 2.0, 3.0)


def test_the_line_goes_through_the_quartiles():
    values = [0.0, 1.0, 2.0, 3.0, 100.0]
    points = quantile_points(values)
    quarter = statistics.NormalDist().inv_cdf(0.75)
    assert points.intercept - quarter * points.slope == pytest.approx(1.0)
    assert points.intercept + quarter * points.slope == pytest.approx(3.0)


def test_many_values_are_thinned_by_a_fixed_stride():
    assert thinned(range(10), 5) == (0, 2, 4, 6, 8)
    assert thinned(range(10), 10) == tuple(range(10))
    assert len(quantile_points([float(i) for i in range(10_001)], 1000).observed) <= 1000


def test_pairs_are_a_value_and_the_one_a_lag_later():
    assert lag_pairs([1.0, 2.0, 3.0]) == ((1.0, 2.0), (2.0, 3.0))
    assert lag_pairs([1.0, 2.0, 3.0], lag=2) == ((1.0,), (3.0,))
    assert lag_pairs([1.0]) == ((), ())
