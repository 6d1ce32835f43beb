"""How tracks with their changes are drawn and listed."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.analysis.history.changes import find_changes
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.drawn_points import DrawnPoints
from steelyard.analysis.history.series import series_of
from steelyard.analysis.history.stated_alarms import TrackChanges
from steelyard.core.tracks import Track, TrackName, TrackPoint
from steelyard.report.kinds.changes.drawn_tracks import drawn_tracks
from steelyard.report.kinds.changes.sentences import change_sentence
from steelyard.report.kinds.changes.tables import changes_by_size


def found_in(values, benchmark="b"):
    name = TrackName(benchmark, "time", "lab")
    points = tuple(TrackPoint(f"r{n}", n, float(v)) for n, v in enumerate(values))
    track = Track(name, "s", "lower", points)
    series = series_of(track)
    changes = find_changes(series, DETECTORS.get("weighed"))
    drawn = DrawnPoints(np.arange(len(values)), points, series.values)
    return TrackChanges(name, "s", "lower", 1, len(values), "r", 1.0, changes, drawn)


def noise(count, seed=3):
    return 100.0 + np.random.default_rng(seed).normal(size=count)


def test_a_drift_is_drawn_as_a_line_from_the_level_before_to_the_one_after():
    values = noise(300) + np.clip((np.arange(300) - 120) / 90, 0.0, 1.0) * 8.0
    found = found_in(values)
    assert [change.kind for change in found.changes] == ["creep"]
    (drawn,) = drawn_tracks([found])["tracks"]
    before, drift, after = drawn["levels"]
    assert before[2] == before[3] == drift[2] == pytest.approx(100.0, abs=0.5)
    assert after[2] == after[3] == drift[3] == pytest.approx(108.0, abs=0.5)
    assert before[1] + 1 == drift[0]
    assert drift[1] + 1 == after[0]


def test_a_drift_to_the_end_is_drawn_as_the_line_through_it():
    values = noise(200)
    values[100:] += 0.2 * np.arange(100)
    found = found_in(values)
    assert "creep" in [change.kind for change in found.changes]
    (drawn,) = drawn_tracks([found])["tracks"]
    last = drawn["levels"][-1]
    assert last[3] == pytest.approx(120.0, abs=2.0)


def test_changes_of_noise_come_after_those_of_level_and_name_no_noise_of_noise():
    louder, higher = noise(300), noise(300, seed=4)
    louder[150:] = 100.0 + 6.0 * (louder[150:] - 100.0)
    higher[150:] += 3.0
    ordered = changes_by_size([found_in(louder, "loud"), found_in(higher, "high")])
    assert [change.kind for _, change in ordered] == ["step", "noise"]
    sentence = change_sentence(ordered[1][1], "s")
    assert sentence.startswith("noise × ")
    assert "noise of" not in sentence
