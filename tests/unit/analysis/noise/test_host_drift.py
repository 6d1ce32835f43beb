"""A host that drifts is told from one whose readings vary."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.analysis.noise.host_drift import BASELINE_READINGS, RECENT_READINGS, host_drift


def set_aside_after(readings) -> int | None:
    """At which reading a host is set aside."""
    for count in range(1, len(readings) + 1):
        drift = host_drift(readings[:count])
        if drift is not None and drift.has_drifted:
            return count
    return None


def test_too_few_readings_tell_nothing() -> None:
    assert host_drift([1.0] * (BASELINE_READINGS + RECENT_READINGS - 1)) is None
    found = host_drift([1.0] * (BASELINE_READINGS + RECENT_READINGS))
    assert (found.ratio, found.limit, found.has_drifted) == (1.0, 0.10, False)


def test_hosts_whose_readings_vary_by_3_percent_are_hardly_ever_set_aside() -> None:
    """A week of one reading an hour, on each of 200 hosts."""
    generator = np.random.default_rng(5)
    readings = (1 + 0.03 * generator.standard_normal((200, 168))).tolist()
    assert sum(set_aside_after(each) is not None for each in readings) <= 10


@pytest.mark.parametrize("ratio", [1.3, 1 / 1.3])
def test_a_host_that_changes_by_30_percent_is_set_aside_within_three_readings(ratio) -> None:
    generator = np.random.default_rng(6)
    found = []
    for _ in range(200):
        readings = 1 + 0.02 * generator.standard_normal(40)
        readings[20:] *= ratio
        found.append(set_aside_after(readings.tolist()))
    assert all(count is not None and 21 <= count <= 23 for count in found)


def test_one_disturbed_reading_sets_no_host_aside() -> None:
    readings = [1.0, 1.01, 0.99, 1.0, 1.02, 1.0, 1.0, 3.0, 1.0, 1.01, 5.0, 1.0]
    assert set_aside_after(readings) is None
    disturbed_at_first = [4.0, 1.0, 1.01, 0.99, 1.0, 1.0, 1.0, 1.0]
    assert set_aside_after(disturbed_at_first) is None


def test_a_slow_creep_is_found_too() -> None:
    readings = [1.005**hour for hour in range(60)]
    assert 15 <= set_aside_after(readings) <= 30
