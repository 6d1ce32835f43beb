"""Splits by energy distance."""

from __future__ import annotations

import numpy as np

from steelyard.analysis.history.energy_splits import LONGEST_STRETCH, _best_place, energy_splits
from steelyard.core.rng import derive_seed


def noise(name, count):
    return np.random.default_rng(derive_seed(1, name)).normal(size=count)


def energy(left, right):
    """Matteson and James 2014, equation 5, with exponent 1, written out."""
    n, m = len(left), len(right)
    between = sum(abs(x - y) for x in left for y in right) * 2 / (n * m)
    own = sum(abs(x - y) for i, x in enumerate(left) for y in left[i + 1 :]) * 2 / (n * (n - 1))
    other = sum(abs(x - y) for i, x in enumerate(right) for y in right[i + 1 :])
    return (between - own - other * 2 / (m * (m - 1))) * n * m / (n + m)


def test_the_best_place_has_the_largest_energy_distance():
    values = noise("energy", 30)
    values[12:] += 1.0
    by_hand = max(range(5, 26), key=lambda at: energy(values[:at], values[at:]))
    assert _best_place(values) == by_hand


def test_levels_are_found_and_still_values_have_none():
    values = noise("levels", 300)
    values[100:200] += 3.0
    found = sorted(energy_splits(values, 1e-4))
    assert len(found) == 2
    assert abs(found[0] - 100) <= 3
    assert abs(found[1] - 200) <= 3
    assert energy_splits(noise("still", 300), 1e-4) == {}


def test_long_tracks_are_taken_in_stretches_that_overlap():
    values = noise("long", 3 * LONGEST_STRETCH)
    values[LONGEST_STRETCH:] += 4.0
    assert any(abs(place - LONGEST_STRETCH) <= 2 for place in energy_splits(values, 1e-5))
