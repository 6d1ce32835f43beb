"""Changes with one cause are one alarm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.analysis.history.alarm_groups import (
    alarms_of_tracks,
    false_alarm_rate,
    fewest_false,
)
from steelyard.analysis.history.changes import find_changes
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.series import series_of_values
from steelyard.analysis.history.stated_alarms import TrackChanges
from steelyard.core.rng import derive_seed
from steelyard.core.tracks import TrackName

WEIGHED = DETECTORS.get("weighed")


def track(benchmark, host="lab1", at=60, size=5.0, repository="git", deviation=1.0):
    name = TrackName(benchmark, "wall_time", host, repository, "main")
    generator = np.random.default_rng(derive_seed(1, f"{benchmark} {host} {at}"))
    values = 100.0 + generator.normal(0.0, deviation, 120)
    values[at:] += size
    series = series_of_values(values, name=name, revisions=[f"r{i}" for i in range(120)])
    changes = find_changes(series, WEIGHED)
    ranges = tuple(
        tuple(series.revisions[one.earliest_index : one.latest_index + 1]) for one in changes
    )
    return TrackChanges(name, "s", "lower", None, 120, "r119", 1.0, changes, ranges=ranges)


def test_one_change_on_all_hosts_is_one_alarm_though_noise_moves_where_it_is_seen():
    tracks = [track("sort", f"lab{n}", size=2.5) for n in range(4)]
    assert len({one.revision for each in tracks for one in each.changes}) > 1
    (alarm,) = alarms_of_tracks(tracks)
    assert len(alarm.changes) == 4
    assert alarm.reason == "change"
    assert alarm.direction == "worse"


def test_changes_of_other_places_stand_alone():
    apart = [track("sort", at=30), track("parse", at=90)]
    assert len(alarms_of_tracks(apart)) == 2
    elsewhere = [track("sort"), track("sort", repository="other")]
    assert len(alarms_of_tracks(elsewhere)) == 2
    nowhere = [track("sort", repository=""), track("parse", repository="")]
    assert len(alarms_of_tracks(nowhere)) == 2
    assert len(alarms_of_tracks(nowhere, one_source=True)) == 1


def test_what_one_benchmark_lost_another_gained_is_a_cost_that_moved():
    (alarm,) = alarms_of_tracks([track("lex", size=5.0), track("parse", size=-5.0)])
    assert alarm.reason == "moved-cost"
    assert alarm.direction == "neither"


@pytest.mark.parametrize("other", [-1.8, 5.0])
def test_a_change_that_is_not_made_good_elsewhere_is_a_change(other):
    (alarm,) = alarms_of_tracks([track("lex", size=5.0), track("parse", size=other)])
    assert alarm.reason == "change"


def test_what_moves_with_the_reference_benchmark_of_its_host_is_of_the_host():
    tracks = [track("sort"), track("parse"), track("loop")]
    (alarm,) = alarms_of_tracks(tracks, ["loop"])
    assert alarm.reason == "host"
    (alarm,) = alarms_of_tracks(tracks)
    assert alarm.reason == "change"


def test_a_change_on_hosts_whose_reference_stands_still_is_a_change():
    still = track("loop", "lab2", size=0.0)
    assert not still.changes
    (alarm,) = alarms_of_tracks(
        [track("loop"), track("sort"), track("sort", "lab2"), still], ["loo*"]
    )
    assert alarm.reason == "change"


def test_false_discoveries_are_counted_over_all_tracks():
    sure = track("sort")
    (change,) = sure.changes
    doubtful = replace(track("parse"), changes=(replace(track("parse").changes[0], p_value=0.02),))
    still = [replace(track("loop", size=0.0), changes=(), ranges=()) for _ in range(18)]
    # 20 hypotheses: the second smallest p-value may be 0.05 * 2 / 20.
    assert fewest_false([sure, doubtful, *still], 0.05) == [change]
    assert len(fewest_false([sure, doubtful], 0.05)) == 2
    assert fewest_false(still, 0.05) == []


def test_alarms_a_week_become_a_rate_by_the_busiest_half():
    hours = [3600.0 * hour for hour in range(0, 24 * 28)]
    assert false_alarm_rate(1.0, hours) == pytest.approx(1 / 168, rel=0.01)
    slowly = [0.0, *(hour + 28 * 86_400.0 for hour in hours)]
    assert false_alarm_rate(1.0, slowly) == pytest.approx(1 / 168, rel=0.01)
    assert false_alarm_rate(1.0, [0.0, 60.0]) is None
    assert false_alarm_rate(1.0, []) is None
