"""Slow drifts beside steps."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.analysis.history.creeps import SHORTEST_CREEP, best_ramp, find_creeps
from steelyard.analysis.history.noise_scale import NoiseScale
from steelyard.core.rng import derive_seed

PLAIN = NoiseScale(1.0, 0.0, 300)


def noise(name, count):
    return np.random.default_rng(derive_seed(1, name)).normal(size=count)


def rise(count, first, last, size):
    return np.clip((np.arange(count) - first) / (last - first), 0.0, 1.0) * size


def test_a_ramp_without_noise_is_found_where_it_is():
    found = best_ramp(rise(300, 120, 180, 5.0))
    assert (found.first, found.last) == (120, 180)
    assert found.rise == pytest.approx(5.0)
    assert found.squares == pytest.approx(0.0, abs=1e-9)


def test_the_squares_left_are_those_of_a_fit_by_least_squares():
    values = rise(200, 60, 140, 3.0) + noise("fit", 200)
    found = best_ramp(values)
    shape = np.clip((np.arange(200) - found.first) / (found.last - found.first), 0.0, 1.0)
    design = np.column_stack([np.ones(200), shape])
    (_, slope), squares, *_ = np.linalg.lstsq(design, values, rcond=None)
    assert found.squares == pytest.approx(float(squares[0]))
    assert found.rise == pytest.approx(float(slope))


def test_a_slow_rise_that_levels_make_a_staircase_of_is_one_creep():
    values = rise(300, 100, 200, 6.0) + noise("stairs", 300)
    (creep,) = find_creeps(values, (120, 150, 180), PLAIN)
    assert creep.steps == range(3)
    assert abs(creep.first - 100) <= 15
    assert abs(creep.last - 200) <= 15
    assert creep.p_value < 1e-6


def test_a_step_is_no_creep_and_neither_are_steps_up_and_down():
    values = noise("step", 300)
    values[150:] += 4.0
    assert find_creeps(values, (150,), PLAIN) == []
    values[200:] -= 4.0
    assert find_creeps(values, (150, 200), PLAIN) == []


def test_what_rises_within_a_few_values_is_a_step():
    values = rise(300, 150, 150 + SHORTEST_CREEP // 3, 8.0) + noise("fast", 300)
    assert find_creeps(values, (152,), PLAIN) == []


def test_a_track_without_levels_has_no_creep():
    assert find_creeps(noise("none", 300), (), PLAIN) == []
    assert find_creeps(noise("short", 10), (5,), PLAIN) == []
