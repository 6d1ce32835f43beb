"""Conformal quantiles and the jackknife+: by hand, and by simulation."""

import numpy as np
import pytest

from steelyard.predict.conformal import conformal_quantile, jackknife_plus


def test_nine_scores_bound_90_percent_by_the_largest_and_eight_do_not():
    assert conformal_quantile(np.arange(9.0), 0.9) == 8.0
    assert conformal_quantile(np.arange(8.0), 0.9) is None


def test_between_order_statistics_the_quantile_is_interpolated():
    assert conformal_quantile(np.arange(1.0, 12.0), 0.875) == pytest.approx(10.5)


def test_a_further_score_stays_below_as_often_as_promised():
    draw = np.random.default_rng(8)
    scores = draw.exponential(size=(4000, 29))
    below = [s[28] <= conformal_quantile(s[:28], 0.9) for s in scores]
    assert 0.88 < np.mean(below) < 0.92


def test_the_jackknife_plus_needs_nine_cases_for_90_percent():
    assert jackknife_plus(np.ones(8), np.zeros(8), 0.9) is None
    np.testing.assert_allclose(jackknife_plus(np.ones(9), np.zeros(9), 0.9), [-1, 1])


def test_the_jackknife_plus_takes_the_order_statistics_of_barber_et_al():
    errors = np.arange(1.0, 20.0)
    np.testing.assert_allclose(jackknife_plus(errors, np.zeros(19), 0.9), [-18, 18])
