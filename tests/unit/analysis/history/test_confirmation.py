from __future__ import annotations

import pytest

from steelyard.analysis.history.confirmation import confirmation_margin, confirmation_verdict
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.core.tracks import Change, TrackName


def _estimate(value, low, high):
    return Estimate(value, low, high, 0.99999, "fieller")


def _change(size, kind="step"):
    ratio = Unbounded(size, 0.95, "m", "one-value", "one")
    return Change(
        TrackName("b", "m", "h"),
        kind,
        **{"index": 5, "last_index": 5, "revision": "r5", "first_revision": "r5"},
        **{"previous_revision": "r4", "earliest_index": 5, "latest_index": 5},
        size=ratio,
        difference=ratio,
        direction="worse",
        confidence=0.99,
        p_value=0.01,
        detector="d",
    )


@pytest.mark.parametrize(
    ("size", "interval", "verdict"),
    [
        (1.10, (1.10, 1.08, 1.12), "confirmed"),
        (1.10, (1.06, 1.01, 1.11), "confirmed"),
        (1.10, (1.00, 0.97, 1.03), "refuted"),
        (1.10, (1.02, 1.01, 1.03), "refuted"),
        (1.10, (0.90, 0.88, 0.92), "refuted"),
        (1.10, (1.05, 0.98, 1.12), "unclear"),
        (0.90, (0.90, 0.88, 0.92), "confirmed"),
        (0.90, (1.00, 0.99, 1.01), "refuted"),
        (0.90, (1.10, 1.08, 1.12), "refuted"),
        (0.90, (0.94, 0.88, 1.02), "unclear"),
    ],
)
def test_a_run_confirms_a_change_on_its_own_side_and_of_half_its_size(size, interval, verdict):
    assert confirmation_verdict(_change(size), _estimate(*interval)) == verdict


def test_a_run_without_bounds_or_of_a_change_of_noise_says_nothing():
    unbounded = Unbounded(1.1, 0.99999, "fieller", "one-value", "one")
    assert confirmation_verdict(_change(1.1), unbounded) == "unclear"
    noise = _change(3.0, "noise")
    assert confirmation_verdict(noise, _estimate(1.1, 1.08, 1.12)) == "unclear"
    assert confirmation_margin(noise) == 0.02
