"""Few points stand for many, and lose no extreme and no change."""

from __future__ import annotations

import numpy as np

from steelyard.analysis.history.drawn_points import MOST_POINTS, kept_indexes


def test_few_values_are_all_drawn():
    assert kept_indexes(np.arange(float(MOST_POINTS)), []).tolist() == list(range(MOST_POINTS))


def test_of_many_values_the_ends_of_each_stretch_and_both_sides_of_changes_are_drawn():
    values = np.random.default_rng(1).normal(size=20_000)
    values[777], values[13_131] = 99.0, -99.0
    kept = kept_indexes(values, [5_000])
    assert {0, 777, 4_999, 5_000, 13_131, 19_999} <= set(kept.tolist())
    assert len(kept) <= MOST_POINTS + 4
    assert (np.diff(kept) > 0).all()
