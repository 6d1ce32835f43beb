"""Series from tracks, and what is said of a change."""

import numpy as np
import pytest

from steelyard.analysis.history.changes import describe_changes, find_changes
from steelyard.analysis.history.detector import Detection, Sensitivity
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.series import series_of, series_of_values
from steelyard.core.errors import AnalysisError
from steelyard.core.tracks import Track, TrackName, TrackPoint

NAME = TrackName("zstd", "wall_time", "lab1")


def track(*points):
    return Track(NAME, "s", "lower", tuple(points))


def change_of(values, kind="step", index=30, last=None, direction="lower"):
    one = Detection(kind, index, index if last is None else last, 1e-6)
    return describe_changes(series_of_values(values, direction), [one], "test")[0]


def test_runs_of_one_revision_become_one_value_by_their_counts():
    series = series_of(track(TrackPoint("a", 0, 1.0, count=1), TrackPoint("a", 0, 4.0, count=2)))
    assert series.values.tolist() == [3.0]
    assert series.standard_errors[0] > 0.9


def test_an_interval_without_a_standard_error_gives_one():
    series = series_of(track(TrackPoint("a", 0, 1.0, low=0.804, high=1.196)))
    assert series.standard_errors[0] == pytest.approx(0.1, rel=1e-3)


def test_a_value_that_is_no_number_is_one_error_that_names_the_revision():
    with pytest.raises(AnalysisError, match="revision 'b' is nan"):
        series_of(track(TrackPoint("a", 0, 1.0), TrackPoint("b", 1, float("nan"))))


def test_points_out_of_order_are_an_error():
    with pytest.raises(AnalysisError, match="not in the order"):
        series_of(track(TrackPoint("a", 3, 1.0), TrackPoint("b", 2, 1.0)))


def test_a_step_up_is_worse_where_lower_is_better_and_better_where_higher_is():
    values = np.random.default_rng(1).normal(100, 1, 60)
    values[30:] += 10
    assert change_of(values).direction == "worse"
    assert change_of(values, direction="higher").direction == "better"


def test_the_interval_of_a_step_holds_its_size_in_95_percent():
    held = 0
    for seed in range(400):
        values = np.random.default_rng(seed).normal(100, 1, 60)
        values[30:] += 10
        found = change_of(values)
        held += found.size.low <= 1.1 <= found.size.high
    # 400 draws of 0.95: 3.3 standard deviations to either side.
    assert 366 <= held <= 394


def test_the_range_of_the_beginning_holds_it_in_95_percent():
    held = 0
    for seed in range(400):
        values = np.random.default_rng(seed).normal(100, 1, 60)
        values[30:] += 1.5
        found = find_changes(
            series_of_values(values), DETECTORS.get("talos-calibrated"), Sensitivity(0.05)
        )
        near = [c for c in found if abs(c.index - 30) < 6]
        held += 1 if not near else near[0].earliest_index <= 30 <= near[0].latest_index
    assert held >= 360


def test_a_change_of_noise_has_the_ratio_of_the_spreads():
    values = np.random.default_rng(2).normal(100, 1, 200)
    values[100:] = 100 + 3 * (values[100:] - 100)
    found = change_of(values, "noise", 100)
    assert found.size.low < 3 < found.size.high
    assert found.direction == "worse"


def test_a_creep_has_the_levels_at_its_ends():
    values = np.random.default_rng(2).normal(100, 1, 200) + np.linspace(0, 20, 200)
    found = change_of(values, "creep", 0, 199)
    assert found.size.low < 1.2 < found.size.high


def test_a_batch_names_its_oldest_revision_and_the_last_one_before_it():
    points = [TrackPoint(f"r{i}", i, 1.0 + (i > 4), first_revision=f"f{i}") for i in range(9)]
    series = series_of(track(*points))
    found = describe_changes(series, [Detection("step", 5, 5, 0.01)], "test")[0]
    assert (found.first_revision, found.revision, found.previous_revision) == ("f5", "r5", "r4")


def test_changes_below_the_least_ratio_are_left_out():
    values = np.random.default_rng(1).normal(100, 0.1, 80)
    values[40:] += 1
    talos = DETECTORS.get("talos-calibrated")
    assert find_changes(series_of_values(values), talos)
    assert find_changes(series_of_values(values), talos, Sensitivity(least_ratio=0.05)) == ()
