"""What the newest values of a track brought."""

from __future__ import annotations

import numpy as np

from steelyard.analysis.history.change_span import change_span
from steelyard.analysis.history.changes import find_changes
from steelyard.analysis.history.detector import Sensitivity
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.new_changes import LATEST_SEEN, new_changes
from steelyard.analysis.history.series import series_of_values
from steelyard.analysis.history.stated_alarms import TrackChanges
from steelyard.app.history.known_notes import KnownNotes
from steelyard.core.rng import derive_seed
from steelyard.store.track_store import ChangeNote

WEIGHED, USUAL = DETECTORS.get("weighed"), Sensitivity()
NEWEST = 5


def track(count, at, size):
    generator = np.random.default_rng(derive_seed(1, f"new {count} {at}"))
    values = 100.0 + generator.normal(size=count)
    values[at:] += size
    return values


def new_indexes(values):
    series = series_of_values(values)
    found = find_changes(series, WEIGHED, USUAL)
    new = new_changes(series, found, WEIGHED, USUAL, NEWEST)
    return [found[number].index for number in sorted(new)], [one.index for one in found]


def test_a_small_change_that_took_many_values_to_be_seen_is_new_when_it_is():
    values = track(160, 60, 1.4)
    first = next(n for n in range(61, 160) if new_indexes(values[:n])[1])
    assert first > 60 + NEWEST + 1
    new, found = new_indexes(values[:first])
    assert new == found


def test_what_was_seen_before_the_newest_values_is_not_new():
    assert new_indexes(track(200, 60, 6.0))[0] == []
    new, found = new_indexes(track(200, 60, 6.0)[:64])
    assert new == found == [60]


def test_what_took_very_long_to_be_seen_is_not_told_as_new():
    values = track(60 + 2 * LATEST_SEEN, 60, 6.0)
    assert new_indexes(values)[0] == []


def test_a_track_too_short_to_be_looked_at_without_them_has_new_changes_alone():
    values = track(14, 7, 30.0)
    new, found = new_indexes(values)
    assert new == found
    assert found


def test_a_creep_that_goes_on_is_new_once_and_not_whenever_its_beginning_is_placed_anew():
    generator = np.random.default_rng(derive_seed(1, "goes on"))
    values = 100.0 + generator.normal(size=140) + np.clip((np.arange(140) - 60) / 60, 0.0, 1.0) * 9
    seen = [bool(new_indexes(values[:count])[0]) for count in range(80, 141)]
    first = seen.index(True)
    # While it begins among the newest values, or is first seen, each check calls it new.
    assert sum(seen[first + NEWEST + 5 :]) == 0


def test_a_change_is_known_by_what_was_kept_of_a_revision_beside_it():
    values = track(120, 60, 2.0)
    series = series_of_values(values)
    (step,) = find_changes(series, WEIGHED, USUAL)
    span = change_span(step)
    assert step.index in span
    assert len(span) == step.latest_index - step.earliest_index + 1
    changes = TrackChanges(
        series.name, "s", "lower", 1, 120, "119", 1.0, (step,), spans=(tuple(map(str, span)),)
    )
    beside = str(span.stop - 1 if span.stop - 1 != step.index else span.start)

    def known(sort, revision):
        return bool(KnownNotes([ChangeNote(1, revision, sort, 1.0)], [changes]).on(step))

    assert beside != step.revision
    assert known("told", beside)
    assert known("acknowledged", step.revision)
    assert not known("told", str(span.stop + 1))
    assert not known("refuted", beside)
    assert known("refuted", step.revision)
