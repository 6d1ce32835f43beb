"""The changes of tracks, and the alarms that they come to."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from steelyard.analysis.history.alarm_groups import false_alarm_rate, fewest_false
from steelyard.analysis.history.change_span import change_span
from steelyard.analysis.history.changes import find_changes
from steelyard.analysis.history.detector import Detector, Sensitivity
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.drawn_points import DrawnPoints, kept_indexes
from steelyard.analysis.history.new_changes import new_changes
from steelyard.analysis.history.series import Series, series_of
from steelyard.analysis.history.stated_alarms import StatedAlarm, TrackChanges
from steelyard.app.history.known_notes import KnownNotes
from steelyard.app.history.stored_tracks import LoadedTrack
from steelyard.core.errors import UsageError
from steelyard.core.tracks import Alarm, Change, Track, TrackPoint

if TYPE_CHECKING:
    from steelyard.store.track_store import ChangeNote

# A detector needs some values after a change to see it; what begins further back was there before.
NEWEST_COUNT = 5
DEFAULT_DETECTOR = "weighed"


@dataclass(frozen=True)
class AlarmLimits:
    """What is told over all tracks.

    Parameters
    ----------
    references : tuple of str
        Patterns of benchmarks that no revision changes.
    alarms_a_week : float or None
        False alarms of all tracks that are put up with; gives the rate of false alarms.
    false_share : float or None
        Of the changes told, how many may be false: a false discovery rate.
    """

    references: tuple[str, ...] = ()
    alarms_a_week: float | None = None
    false_share: float | None = None


@dataclass(frozen=True)
class Question:
    """How changes are looked for.

    Parameters
    ----------
    detector : str
    sensitivity : Sensitivity
    newest_count : int
        So many revisions at the end of a track bring what is new.
    keep_points : bool
        Whether tracks keep their points, to be drawn.
    limits : AlarmLimits
        On what is told over all tracks.
    recent_count : int or None
        Changes are looked for in so many newest values of each track; None stands for all.
    """

    detector: str = DEFAULT_DETECTOR
    sensitivity: Sensitivity = field(default_factory=Sensitivity)
    newest_count: int = NEWEST_COUNT
    keep_points: bool = False
    limits: AlarmLimits = field(default_factory=AlarmLimits)
    recent_count: int | None = None


def asked_question(
    detector: str | None,
    false_alarm_rate: float | None,
    newest_count: int,
    *,
    least_ratio: float = 0.0,
    least_deviations: float | None = None,
    keep_points: bool = False,
) -> Question:
    """The question with what was asked for in place of the defaults."""
    usual = Sensitivity()
    rate = usual.false_alarm_rate if false_alarm_rate is None else false_alarm_rate
    name = DEFAULT_DETECTOR if detector is None else DETECTORS.get(detector).name
    least = usual.least_deviations if least_deviations is None else least_deviations
    return Question(name, Sensitivity(rate, least_ratio, least), newest_count, keep_points)


def find_track_changes(loaded: Iterable[LoadedTrack], question: Question) -> list[TrackChanges]:
    """Each track with its changes.

    Raises
    ------
    UnknownNameError
        There is no such detector.
    """
    detector = DETECTORS.get(question.detector)
    found = [_with_changes(each, detector, question) for each in loaded]
    share = question.limits.false_share
    if share is None:
        return found
    kept = {id(change) for change in fewest_false(found, share)}
    return [_with_some(track, kept) for track in found]


def _with_some(track: TrackChanges, kept: Set[int]) -> TrackChanges:
    """The track with the changes whose identities are kept."""
    numbers = [at for at, change in enumerate(track.changes) if id(change) in kept]
    return replace(
        track,
        changes=tuple(track.changes[at] for at in numbers),
        ranges=tuple(track.ranges[at] for at in numbers),
        spans=tuple(track.spans[at] for at in numbers),
        new=frozenset(place for place, at in enumerate(numbers) if at in track.new),
    )


def with_weekly_rate(question: Question, loaded: Iterable[LoadedTrack]) -> Question:
    """The question with the rate of false alarms that its alarms a week come to.

    Raises
    ------
    UsageError
        The values have no times, or none that are a day apart.
    """
    asked = question.limits.alarms_a_week
    if asked is None:
        return question
    times = sorted(
        point.time_s for each in loaded for point in each.track.points if point.time_s is not None
    )
    rate = false_alarm_rate(asked, times)
    if rate is None:
        raise UsageError(
            "How many values a week there are is not known: they have no times that are a day "
            "apart. Give --false-alarms as a share of values.",
            field="--alarms-a-week",
        )
    return replace(question, sensitivity=replace(question.sensitivity, false_alarm_rate=rate))


def _with_changes(loaded: LoadedTrack, detector: Detector, question: Question) -> TrackChanges:
    track = loaded.track
    series = series_of(track)
    first = max(0, len(series) - question.recent_count) if question.recent_count else 0
    recent = series.part(first, len(series))
    found = find_changes(recent, detector, question.sensitivity)
    new = new_changes(recent, found, detector, question.sensitivity, question.newest_count)
    changes = tuple(_moved(change, first) for change in found)
    return TrackChanges(
        name=track.name,
        unit=track.unit,
        direction=track.direction,
        number=loaded.number,
        count=len(series),
        ranges=tuple(
            tuple(series.revisions[one.earliest_index : one.latest_index + 1]) for one in changes
        ),
        newest_revision=series.revisions[-1],
        newest_value=float(series.values[-1]),
        changes=changes,
        spans=tuple(
            tuple(series.revisions[span.start : span.stop]) for span in map(change_span, changes)
        ),
        new=new,
        drawn=_drawn_points(track, series, changes) if question.keep_points else None,
    )


def _moved(change: Change, by: int) -> Change:
    """The change of a part of a series that begins so many values later."""
    return replace(
        change,
        index=change.index + by,
        last_index=change.last_index + by,
        earliest_index=change.earliest_index + by,
        latest_index=change.latest_index + by,
    )


def _drawn_points(track: Track, series: Series, changes: Sequence[Change]) -> DrawnPoints:
    """The points that are drawn, one for each revision, with the values that detectors saw."""
    first: dict[int, TrackPoint] = {}
    for point in track.points:
        first.setdefault(point.position, point)
    points = list(first.values())
    kept = kept_indexes(series.values, [change.index for change in changes])
    drawn = [replace(points[at], value=float(series.values[at])) for at in kept.tolist()]
    return DrawnPoints(kept, drawn, series.values)


def stated_alarms(
    tracks: Sequence[TrackChanges],
    alarms: Sequence[Alarm],
    notes: Sequence[ChangeNote] = (),
    now_unix_s: float | None = None,
) -> list[StatedAlarm]:
    """The alarms, each with what was done about it."""
    known = KnownNotes(notes, tracks)
    now = time.time() if now_unix_s is None else now_unix_s
    brought = {id(track.changes[at]) for track in tracks for at in track.new}
    return [_stated(alarm, brought, known, now) for alarm in alarms]


def _stated(alarm: Alarm, brought: Set[int], known: KnownNotes, now: float) -> StatedAlarm:
    notes = [note for change in alarm.changes for note in known.on(change)]
    for note in reversed(notes):
        if note.sort == "acknowledged":
            return StatedAlarm(alarm, "acknowledged", note=note.note)
        if note.sort == "snoozed" and (note.until_unix_s or 0.0) > now:
            return StatedAlarm(alarm, "snoozed", note=note.note)
        if note.sort == "refuted":
            return StatedAlarm(alarm, "refuted", note=note.note)
    if not any(id(change) in brought for change in alarm.changes):
        return StatedAlarm(alarm, "old")
    return StatedAlarm(alarm, "host" if alarm.reason == "host" else "new")
