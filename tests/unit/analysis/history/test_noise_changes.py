"""Changes of noise."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.analysis.history.noise_changes import (
    SHORTEST_NOISE,
    find_noise_changes,
    local_spreads,
)
from steelyard.core.rng import derive_seed


def noise(name, count, deviation=1.0):
    return np.random.default_rng(derive_seed(1, name)).normal(0.0, deviation, count)


@pytest.mark.parametrize("factor", [0.3, 3.0])
def test_another_spread_is_found_where_it_begins(factor):
    apart = np.concatenate([noise("one", 150), noise("other", 150, factor)])
    (change,) = find_noise_changes(apart, 1e-4)
    assert abs(change.place - 150) <= 5
    spreads = local_spreads(apart, [change])
    assert spreads[-1] / spreads[0] == pytest.approx(factor, rel=0.3)


def test_the_same_spread_everywhere_is_no_change():
    total = sum(len(find_noise_changes(noise(f"same {n}", 200), 1e-4)) for n in range(40))
    assert total <= 2


def test_a_burst_shorter_than_a_spread_can_be_known_from_is_none():
    apart = noise("burst", 200)
    apart[100 : 100 + SHORTEST_NOISE - 8] *= 6.0
    assert find_noise_changes(apart, 1e-4) == []


def test_values_that_never_vary_have_no_noise_to_change():
    assert find_noise_changes(np.zeros(100), 1e-4) == []
    assert (local_spreads(np.zeros(10), []) > 0.0).all()
