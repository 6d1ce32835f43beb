"""Larres 2012, section 5.3: what Talos's rule misses, and what it repeats."""

import numpy as np

from steelyard.analysis.history.changes import find_changes
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.series import series_of_values
from steelyard.analysis.history.window_t import window_tests
from tests.unit.analysis.history.made_tracks import opposite_jumps, settled_step


def found(name, values):
    return [c.index for c in find_changes(series_of_values(values), DETECTORS.get(name))]


def test_t_is_welchs_of_30_values_before_and_5_from_the_value_on():
    from scipy import stats

    values = np.random.default_rng(3).normal(size=60)
    tests = window_tests(values)
    expected = stats.ttest_ind(values[50:55], values[20:50], equal_var=False)
    at = 50 - tests.first
    np.testing.assert_allclose(tests.statistics[at], expected.statistic, rtol=1e-12)
    np.testing.assert_allclose(tests.degrees[at], expected.df, rtol=1e-12)


def test_talos_misses_a_big_jump_that_is_followed_by_as_big_a_jump_back():
    values, at = opposite_jumps()
    assert not [index for index in found("talos", values) if abs(index - at) <= 5]


def test_talos_repeats_the_alarm_of_one_change_for_subsequent_values():
    values, at = settled_step()
    assert len([index for index in found("talos", values) if abs(index - at) <= 4]) >= 2


def test_the_calibrated_windows_report_that_change_once():
    values, at = settled_step()
    assert found("talos-calibrated", values) == [at]
