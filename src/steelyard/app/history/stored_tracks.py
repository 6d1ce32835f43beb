"""Tracks out of the store, or of a file alone, as detectors read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from steelyard.app.history.revision_order import ordered_values, repository_places
from steelyard.core.errors import DataError, UsageError
from steelyard.core.experiment_spec import Direction
from steelyard.core.track_row import TrackRow
from steelyard.core.tracks import Track, TrackName, TrackPoint
from steelyard.store.track_store import StoredRevision, StoredTrack, StoredValue, TrackStore

if TYPE_CHECKING:
    from steelyard.app.results.library import Library

# Of what is not told the confidence of its interval.
USUAL_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Chosen:
    """Which tracks and which part of them.

    Patterns are of the shell (``*``, ``?``, ``[...]``); none takes all. `since_unix_s` leaves
    older values out of what is shown, `branch` of None takes every branch.
    """

    benchmarks: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    branch: str | None = None
    repository: str | None = None

    def takes(self, track: StoredTrack) -> bool:
        """Whether a track of the store is one of them."""
        return self.takes_name(track.name)

    def takes_name(self, name: TrackName) -> bool:
        """Whether a track is one of them."""
        return (
            _fits(name.benchmark, self.benchmarks)
            and _fits(name.metric, self.metrics)
            and _fits(name.host, self.hosts)
            and (self.branch is None or name.branch == self.branch)
            and (self.repository is None or name.repository == self.repository)
        )


@dataclass(frozen=True)
class LoadedTrack:
    """A track with its number in the store; None where it comes from a file alone."""

    track: Track
    number: int | None = None


def has_tracks(library: Library) -> bool:
    """Whether the store has a history."""
    return bool(TrackStore(library.store).tracks())


def stored_tracks(library: Library, chosen: Chosen) -> tuple[StoredTrack, ...]:
    """The tracks of a library that are chosen; see `chosen_tracks`."""
    return chosen_tracks(TrackStore(library.store), chosen)


def chosen_tracks(tracks: TrackStore, chosen: Chosen) -> tuple[StoredTrack, ...]:
    """The tracks of the store that are chosen.

    Raises
    ------
    UsageError
        There are none.
    """
    known = tracks.tracks()
    found = tuple(track for track in known if chosen.takes(track))
    if not found:
        if not known:
            raise UsageError(
                "The history has no values yet. `steelyard history add` puts some into it.",
                field="--store",
            )
        names = sorted({track.benchmark for track in known})[:8]
        raise UsageError(
            f"No track of the history fits. Its benchmarks are {', '.join(names)}; "
            "`steelyard history list` has all tracks.",
            field="--benchmark",
        )
    return found


def loaded_tracks(tracks: TrackStore, chosen: Sequence[StoredTrack]) -> Iterator[LoadedTrack]:
    """The chosen tracks one after the other, their points ancestors first."""
    known: dict[str, _Revisions] = {}
    for stored in chosen:
        if stored.repository not in known:
            revisions = tracks.revisions(stored.repository)
            numbered = {revision.number: revision for revision in revisions}
            known[stored.repository] = _Revisions(numbered, repository_places(revisions))
        values = tracks.values(stored.number)
        if values:
            track = _track(stored, values, known[stored.repository])
            yield LoadedTrack(track, stored.number)


class _Revisions(NamedTuple):
    """The revisions of a repository by their numbers, and their places."""

    numbered: Mapping[int, StoredRevision]
    places: Mapping[int, int]


def _track(stored: StoredTrack, values: Sequence[StoredValue], revisions: _Revisions) -> Track:
    points = tuple(
        _point(placed.place, placed.value, revisions.numbered[placed.value.revision])
        for placed in ordered_values(values, revisions.numbered, revisions.places)
    )
    return Track(stored.name, stored.unit, _direction(stored.direction), points)


def _point(place: int, value: StoredValue, revision: StoredRevision) -> TrackPoint:
    time_s = revision.committed_unix_s
    return TrackPoint(
        revision=revision.name,
        position=place,
        value=value.value,
        first_revision=value.first_revision or "",
        time_s=value.measured_unix_s if time_s is None else time_s,
        low=value.low,
        high=value.high,
        standard_error=_standard_error(value.low, value.high, value.confidence, value.observations),
        count=value.trial_count or None,
    )


def _standard_error(
    low: float | None,
    high: float | None,
    confidence: float | None,
    observations: Sequence[float],
) -> float | None:
    """From the interval, whatever it covers, else from the trials."""
    if low is not None and high is not None:
        from steelyard.analysis.distributions.normal import normal_quantile
        from steelyard.analysis.intervals.mean import two_sided

        return (high - low) / (2 * normal_quantile(two_sided(confidence or USUAL_CONFIDENCE)))
    count = len(observations)
    if count < 2:
        return None
    mean = sum(observations) / count
    squares = sum((value - mean) ** 2 for value in observations)
    return sqrt(squares / (count - 1) / count)


def tracks_of_rows(rows: Sequence[TrackRow]) -> Iterator[LoadedTrack]:
    """The tracks of a file alone, without a store.

    Raises
    ------
    DataError
        A unit or direction changes within a track.
    """
    grouped: dict[TrackName, list[TrackRow]] = {}
    for row in rows:
        name = TrackName(row.benchmark, row.metric, row.host or "", "", row.branch or "")
        own = grouped.setdefault(name, [])
        if own and (own[0].unit, own[0].direction) != (row.unit, row.direction):
            raise DataError(
                f"The unit of {name} changes from {own[0].unit!r} to {row.unit!r} at revision "
                f"{row.revision}. Name the benchmark otherwise from there on.",
                field="unit",
            )
        own.append(row)
    for name, own in grouped.items():
        numbers: dict[str, int] = {}
        values = [_value_of(row, numbers, place) for place, row in enumerate(own)]
        times = {row.revision: row.committed_unix_s for row in reversed(own)}
        revisions = {
            number: StoredRevision(number, revision, None, (), times.get(revision), "")
            for revision, number in numbers.items()
        }
        points = tuple(
            _point(placed.place, placed.value, revisions[placed.value.revision])
            for placed in ordered_values(values, revisions)
        )
        yield LoadedTrack(Track(name, own[0].unit, own[0].direction, points))


def _value_of(row: TrackRow, numbers: dict[str, int], place: int) -> StoredValue:
    revision = row.revision if row.revision is not None else f"row {place + 1}"
    return StoredValue(
        revision=numbers.setdefault(revision, len(numbers)),
        first_revision=row.first_revision,
        place=row.position,
        value=row.value,
        low=row.low,
        high=row.high,
        confidence=row.confidence,
        trial_count=row.trial_count,
        observations=row.observations,
        measured_unix_s=row.measured_unix_s,
        source="file",
    )


def _direction(text: str) -> Direction:
    return "higher" if text == "higher" else "lower"


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
