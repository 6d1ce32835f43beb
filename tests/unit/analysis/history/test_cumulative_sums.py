"""Self-starting cumulative sums."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.analysis.history.cumulative_sums import (
    SETTLING_COUNT,
    crossings,
    sum_threshold,
)
from steelyard.core.rng import derive_seed


def noise(name, count):
    return np.random.default_rng(derive_seed(1, name)).normal(size=count)


def test_the_threshold_is_that_of_siegmunds_approximation():
    # Montgomery, Introduction to Statistical Quality Control, section 9.1.3: an allowance of 0.5
    # and a threshold of 5 cross once in about 469 values on two sides.
    assert sum_threshold(1 / 469, 0.5) == pytest.approx(5.0, abs=0.05)


def test_stationary_values_cross_about_as_often_as_asked():
    found = sum(len(crossings(noise(f"still {n}", 1000), 0.0, 1e-3)) for n in range(20))
    assert 5 <= found <= 45


def test_a_creep_crosses_soon_after_it_began():
    values = noise("creep", 300)
    values[150:] += np.minimum(np.arange(150) / 50, 3.0)
    first = crossings(values, 0.0, 1e-4)[0]
    assert 130 <= first.began <= first.crossed <= 215


def test_falling_values_cross_too_and_the_unit_does_not_matter():
    values = noise("falling", 200)
    values[100:] -= 2.0
    found = crossings(values, 0.0, 1e-4)
    assert found
    assert crossings(1e9 + 1e6 * values, 0.0, 1e-4) == found


def test_nothing_crosses_before_a_level_is_known():
    assert crossings(np.zeros(SETTLING_COUNT), 0.0, 1e-4) == []
    values = np.zeros(60)
    values[30:] = 1.0
    assert crossings(values, 0.0, 1e-4)[0].crossed in range(30, 40)
