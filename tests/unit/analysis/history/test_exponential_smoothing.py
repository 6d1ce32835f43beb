"""Forecasts by exponential smoothing, and the alarms of their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.analysis.distributions.table_distributions import t_quantile
from steelyard.analysis.history.changes import find_changes
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.exponential_smoothing import begin_double, begin_simple
from steelyard.analysis.history.series import series_of_values
from steelyard.core.rng import derive_seed
from tests.unit.analysis.history.made_tracks import opposite_jumps, settled_step


def kinds(values, name="smoothing"):
    found = find_changes(series_of_values(values), DETECTORS.get(name))
    return [(c.kind, c.index, c.last_index) for c in found]


def after(state, values):
    for value in np.asarray(values).tolist():
        state = state.after(value)
    return state


def test_the_first_forecasts_are_those_of_the_recursion_of_the_thesis():
    state = begin_simple(np.array([10.0]), np.array([[0.25, 0.0]]))
    told = []
    for value in (14.0, 8.0, 9.0):
        told.append(state.forecast())
        state = state.after(value)
    assert told == [10.0, 11.0, 10.25]
    assert state.forecast() == pytest.approx(10.25 + 0.25 * (9.0 - 10.25))
    assert state.forecast(3) == state.forecast(1)


def test_farther_forecasts_are_known_less_well():
    values = np.random.default_rng(3).normal(100.0, 1.0, 60)
    simple = after(begin_simple(values, np.array([[0.5, 0.0]])), values[1:])
    assert simple.variance(3) == pytest.approx(simple.variance() * (1 + 2 * 0.25))
    double = after(begin_double(values, np.array([[0.5, 0.1]])), values[2:])
    expected = 1 + (0.5 * 1.1) ** 2 + (0.5 * 1.2) ** 2
    assert double.variance(3) == pytest.approx(double.variance() * expected)


@pytest.mark.parametrize("alpha", [0.1, 0.4, 0.8])
def test_prediction_intervals_cover_what_their_model_makes(alpha):
    covered = 0
    for number in range(600):
        errors = np.random.default_rng(derive_seed(7, f"{alpha} {number}")).normal(size=81)
        levels = np.concatenate([[0.0], np.cumsum(alpha * errors)[:-1]])
        values = 100.0 + levels + errors
        state = after(begin_simple(values), values[1:80])
        reach = t_quantile(0.975, state.count - 1.0) * state.variance() ** 0.5
        covered += abs(values[80] - state.forecast()) <= reach
    # 94 to 96 %, and what 600 draws leave open (4 standard errors).
    assert 0.94 - 0.036 <= covered / 600 <= 0.96 + 0.036


def test_a_jump_that_is_taken_back_is_a_spike_and_leaves_the_intervals_as_they_were():
    values, at = opposite_jumps()
    assert kinds(values) == [("spike", at, at + 1)]


def test_opposite_jumps_are_missed_by_talos_and_found_by_intervals():
    values, at = opposite_jumps()
    assert kinds(values, "talos") == []
    assert kinds(values) == [("spike", at, at + 1)]
    assert kinds(values, "weighed") == [("spike", at, at + 1)]


def test_one_step_is_told_several_times_by_talos_and_once_by_intervals():
    values, at = settled_step()
    assert len(kinds(values, "talos")) > 1
    assert kinds(values) == [("step", at, at)]
    assert kinds(values, "weighed") == [("step", at, at)]


def test_the_newest_value_is_judged_at_once():
    values = np.random.default_rng(5).normal(100.0, 1.0, 30)
    values[-1] += 15.0
    assert kinds(values) == [("step", 29, 29)]


def test_a_short_trend_is_followed_by_double_smoothing_alone():
    values = np.random.default_rng(6).normal(100.0, 0.3, 80)
    values[40:] += 1.5 * np.arange(40)
    assert len(kinds(values, "double-smoothing")) <= 2
    state = after(begin_double(values), values[2:])
    assert state.forecast() == pytest.approx(100.0 + 1.5 * 40, abs=2.0)
