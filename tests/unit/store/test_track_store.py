from __future__ import annotations

import multiprocessing
import sqlite3
from dataclasses import replace

import pytest

from steelyard.core.errors import DataError, StoreError
from steelyard.core.track_row import TrackRow
from steelyard.store.added_values import Added, RevisionFacts
from steelyard.store.bisection_store import BisectionStore
from steelyard.store.database import Store
from steelyard.store.track_store import ChangeNote, TrackStore

ROW = TrackRow(
    "sort",
    "wall_time",
    "s",
    1.5,
    revision="aa",
    low=1.4,
    high=1.6,
    confidence=0.95,
    observations=(1.4, 1.6),
    trial_count=2,
    measured_unix_s=50.0,
    host="lab1",
    branch="main",
)


@pytest.fixture
def tracks(tmp_path):
    return TrackStore(Store(str(tmp_path / "s.sqlite")))


def _rows(count, **changes):
    return [replace(ROW, revision=f"r{n}", value=1.0 + n, **changes) for n in range(count)]


def test_a_value_comes_back_with_its_interval_its_trials_and_where_it_is_from(tracks):
    tracks.add("repo", [ROW], "experiment-1", {"aa": RevisionFacts(7, ("00",), 40.0, "Sort")})
    (track,) = tracks.tracks()
    assert (track.benchmark, track.metric, track.host) == ("sort", "wall_time", "lab1")
    assert (track.repository, track.branch, track.unit) == ("repo", "main", "s")
    (revision,) = tracks.revisions("repo")
    assert (revision.name, revision.position, revision.parents) == ("aa", 7, ("00",))
    (value,) = tracks.values(track.number)
    assert value.revision == revision.number
    assert (value.value, value.low, value.high, value.confidence) == (1.5, 1.4, 1.6, 0.95)
    assert tuple(value.observations) == (1.4, 1.6)
    assert (value.trial_count, value.source) == (2, "experiment-1")


def test_adding_the_same_source_twice_changes_nothing(tracks):
    rows = [*_rows(5), ROW, ROW]
    assert tracks.add("repo", rows, "file", {}) == Added(7, 0)
    assert tracks.add("repo", rows, "file", {}) == Added(0, 7)
    assert len(tracks.values(1)) == 7


def test_a_file_that_grew_adds_only_what_is_new(tracks):
    tracks.add("repo", _rows(5), "digest-of-five", {})
    assert tracks.add("repo", _rows(8), "digest-of-eight", {}) == Added(3, 5)


def test_the_same_value_of_two_runs_of_a_revision_is_kept_twice(tracks):
    tracks.add("repo", [ROW], "one", {})
    assert tracks.add("repo", [replace(ROW, measured_unix_s=60.0)], "two", {}) == Added(1, 0)


@pytest.mark.parametrize(
    ("change", "told"),
    [({"unit": "bytes"}, "'bytes'"), ({"direction": "higher"}, "higher")],
)
def test_a_unit_or_direction_that_changes_midway_is_one_error_and_nothing_is_added(
    tracks, change, told
):
    tracks.add("repo", [ROW], "one", {})
    other = replace(ROW, revision="bb", **change)
    with pytest.raises(DataError, match=told) as caught:
        tracks.add("repo", [replace(ROW, revision="cc"), other], "two", {})
    assert "Nothing was added" in caught.value.message
    with pytest.raises(DataError, match=told):
        tracks.add("repo", [other], "two", {})
    assert len(tracks.values(1)) == 1
    assert [revision.name for revision in tracks.revisions("repo")] == ["aa"]


def test_revisions_of_a_history_that_was_rewritten_keep_their_values_and_lose_their_place(tracks):
    tracks.add("repo", _rows(3), "file", {f"r{n}": RevisionFacts(n, (), 0.0, "") for n in range(3)})
    tracks.place("repo", {"r0": RevisionFacts(0, (), 0.0, ""), "r2": RevisionFacts(5, (), 0.0, "")})
    assert [revision.position for revision in tracks.revisions("repo")] == [0, None, 5]
    assert len(tracks.values(1)) == 3


def _add_many(path, start):
    tracks = TrackStore(Store(path))
    for batch in range(20):
        first = start + 50 * batch
        rows = [replace(ROW, revision=f"r{n}", value=float(n)) for n in range(first, first + 50)]
        tracks.add("repo", rows, f"file-{first}", {})


def test_two_processes_that_add_at_once_lose_nothing(tmp_path):
    path = str(tmp_path / "s.sqlite")
    Store(path)
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_add_many, args=(path, start)) for start in (0, 1000)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    tracks = TrackStore(Store(path))
    assert sorted(value.value for value in tracks.values(1)) == [float(n) for n in range(2000)]
    assert len(tracks.revisions("repo")) == 2000


def test_values_of_one_source_can_be_removed_and_an_empty_track_goes(tracks):
    tracks.add("repo", _rows(3), "one", {})
    tracks.add("repo", [ROW], "two", {})
    assert tracks.remove([1], source="one") == 3
    assert len(tracks.values(1)) == 1
    assert tracks.remove([1]) == 1
    assert tracks.tracks() == ()


def test_what_was_done_about_a_change_is_kept_in_order(tracks):
    tracks.add("repo", [ROW], "one", {})
    tracks.note(ChangeNote(1, "aa", "refuted", 10.0, experiment="01J"))
    tracks.note(ChangeNote(1, "aa", "snoozed", 20.0, until_unix_s=99.0, note="busy host"))
    assert [(n.sort, n.until_unix_s, n.note) for n in tracks.notes()] == [
        ("refuted", None, ""),
        ("snoozed", 99.0, "busy host"),
    ]


def test_parents_that_were_damaged_are_one_error(tracks):
    tracks.add("repo", [ROW], "one", {})
    connection = sqlite3.connect(tracks.store.path)
    connection.execute("UPDATE revisions SET parents = 'no list'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="parents of revision aa"):
        tracks.revisions("repo")


def test_a_search_goes_on_where_it_was_and_begins_anew_after_its_answer(tmp_path):
    searches = BisectionStore(Store(str(tmp_path / "s.sqlite")))
    first = searches.begin("question", {"good": "a"})
    searches.add_step(first, {"revision": "b"})
    searches.add_step(first, {"revision": "c"})
    assert searches.begin("question", {"good": "a"}) == first
    assert searches.steps(first) == ({"revision": "b"}, {"revision": "c"})
    assert searches.begin("another", {}) != first
    searches.finish(first, {"revision": "c"})
    assert searches.begin("question", {"good": "a"}) != first
