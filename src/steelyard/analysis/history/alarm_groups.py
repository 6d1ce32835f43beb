"""Alarms out of the changes of tracks: what has one cause is told once, and as what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from math import prod, sqrt

from steelyard.analysis.history.stated_alarms import TrackChanges
from steelyard.core.estimate import Estimate
from steelyard.core.tracks import Alarm, AlarmReason, Change, ChangeDirection, TrackName

# A cost that moved is known this well at least, as a part of the largest of its changes.
_KNOWN = 0.5


@dataclass(frozen=True)
class _Placed:
    """A change with the revisions between which it began, and the unit of its track."""

    change: Change
    revisions: frozenset[str]
    unit: str
    where: tuple[str, ...]


def alarms_of_tracks(
    tracks: Sequence[TrackChanges], references: Sequence[str] = (), *, one_source: bool = False
) -> list[Alarm]:
    """One alarm for each cause, the most certain first.

    Parameters
    ----------
    tracks : sequence of TrackChanges
    references : sequence of str
        Patterns of benchmarks that no revision changes: where one of a host changes, the host did.
    one_source : bool
        Whether revisions of one name are the same without a repository too, as in one file.

    Notes
    -----
    Larres 2012, section 5.3: genuine changes show on all hosts. A change belongs to an alarm if the
    most certain change of that one lies among the revisions between which it began (its 95 %
    range), or the other way around; without a repository each track stands alone, unless all are of
    one source. Benchmarks of one host and metric that moved in opposite directions by as much are a
    cost that moved.
    """
    placed = [
        _Placed(
            change,
            frozenset((*within, change.revision)),
            track.unit,
            _where(track.name, one_source=one_source),
        )
        for track in tracks
        for change, within in zip(track.changes, track.ranges, strict=True)
    ]
    hosts = _changes_of_hosts(placed, references)
    groups = _Groups()
    for one in sorted(placed, key=lambda one: (one.change.p_value, str(one.change.track))):
        groups.add(one)
    alarms = [_alarm(group, hosts, references) for group in groups.all]
    return sorted(alarms, key=lambda alarm: -alarm.confidence)


def _where(track: TrackName, *, one_source: bool) -> tuple[str, ...]:
    """Changes of other places have nothing to do with each other."""
    alone = "" if track.repository or one_source else str(track)
    return track.repository, track.branch, alone


class _Groups:
    """Changes with one cause, each group behind its most certain one, found by revisions."""

    def __init__(self) -> None:
        self.all: list[list[_Placed]] = []
        self._beginning: dict[tuple[tuple[str, ...], str], list[int]] = {}
        self._within: dict[tuple[tuple[str, ...], str], list[int]] = {}

    def add(self, one: _Placed) -> None:
        """Put a change into the first group that it belongs to, else into one of its own."""
        near = set(self._within.get((one.where, one.change.revision), ()))
        for revision in one.revisions:
            near.update(self._beginning.get((one.where, revision), ()))
        fitting = next((at for at in sorted(near) if _belongs(one, self.all[at][0])), None)
        if fitting is not None:
            self.all[fitting].append(one)
            return
        number = len(self.all)
        self.all.append([one])
        self._beginning.setdefault((one.where, one.change.revision), []).append(number)
        for revision in one.revisions:
            self._within.setdefault((one.where, revision), []).append(number)


def _belongs(one: _Placed, first: _Placed) -> bool:
    if one.change.revision == first.change.revision:
        return True
    if "spike" in (one.change.kind, first.change.kind) and one.change.kind != first.change.kind:
        return False
    return first.change.revision in one.revisions or one.change.revision in first.revisions


def _is_reference(change: Change, references: Iterable[str]) -> bool:
    return any(fnmatchcase(change.track.benchmark, pattern) for pattern in references)


def _changes_of_hosts(
    placed: Iterable[_Placed], references: Sequence[str]
) -> Mapping[str, list[_Placed]]:
    """The changes of reference benchmarks, by host."""
    found: dict[str, list[_Placed]] = {}
    for one in placed:
        if references and _is_reference(one.change, references):
            found.setdefault(one.change.track.host, []).append(one)
    return found


def _is_of_host(one: _Placed, hosts: Mapping[str, list[_Placed]]) -> bool:
    """Whether the reference benchmark of the host changed with it, to the same side."""
    return any(
        bool(one.revisions & other.revisions)
        and one.change.direction == other.change.direction
        and one.where[:2] == other.where[:2]
        for other in hosts.get(one.change.track.host, ())
    )


def _alarm(
    group: Sequence[_Placed], hosts: Mapping[str, list[_Placed]], references: Sequence[str]
) -> Alarm:
    changes = [one.change for one in group]
    reason: AlarmReason = "change"
    if all(_is_reference(one.change, references) or _is_of_host(one, hosts) for one in group):
        reason = "host"
    elif _is_moved_cost(group):
        reason = "moved-cost"
    directions: set[ChangeDirection] = {change.direction for change in changes}
    agreed: ChangeDirection = directions.pop() if len(directions) == 1 else "neither"
    return Alarm(
        revision=changes[0].revision,
        first_revision=changes[0].first_revision,
        changes=tuple(changes),
        direction="neither" if reason == "moved-cost" else agreed,
        reason=reason,
        confidence=1.0 - prod(change.p_value for change in changes),
    )


def _is_moved_cost(group: Sequence[_Placed]) -> bool:
    """Whether on every host what some benchmarks lost others gained, as far as that is known."""
    by_place: dict[tuple[str, str, str], list[Estimate]] = {}
    for one in group:
        moved = one.change.difference
        if one.change.kind != "step" or not isinstance(moved, Estimate):
            return False
        track = one.change.track
        by_place.setdefault((track.host, track.metric, one.unit), []).append(moved)
    return all(_cancel(moved) for moved in by_place.values())


def _cancel(moved: Sequence[Estimate]) -> bool:
    values = [one.estimate for one in moved]
    if min(values) >= 0.0 or max(values) <= 0.0:
        return False
    reach = sqrt(sum(one.half_width**2 for one in moved))
    return abs(sum(values)) <= reach <= _KNOWN * max(abs(value) for value in values)


def fewest_false(tracks: Sequence[TrackChanges], share: float) -> list[Change]:
    """Of all changes those of which at most a share is expected to be false.

    Notes
    -----
    Benjamini and Hochberg, Journal of the Royal Statistical Society B 57 (1995) 289. Each track is
    a hypothesis, and so is each further change of one; the p-value of a change is that of one as
    plain anywhere in its track.
    """
    changes = sorted((change for track in tracks for change in track.changes), key=_p_value)
    extra = sum(max(0, len(track.changes) - 1) for track in tracks)
    count = len(tracks) + extra
    kept = 0
    for place, change in enumerate(changes, 1):
        if change.p_value <= share * place / count:
            kept = place
    return changes[:kept]


def _p_value(change: Change) -> float:
    return change.p_value


def false_alarm_rate(alarms_a_week: float, times_s: Sequence[float]) -> float | None:
    """The rate for each value at which so many alarms a week are false.

    Parameters
    ----------
    alarms_a_week : float
        Over all tracks.
    times_s : sequence of float
        When the values of all tracks were measured or committed, in order.

    Returns
    -------
    float or None
        None where the times span less than a day. By the busiest half of what is known, since
        histories begin slowly.
    """
    if len(times_s) < 2 or times_s[-1] - times_s[0] < _DAY_S:
        return None
    span_s = times_s[-1] - times_s[0]
    halves = pairwise([times_s[0], times_s[0] + span_s / 2, times_s[-1]])
    counts = [sum(first <= at <= last for at in times_s) for first, last in halves]
    a_week = max(counts) / (span_s / 2) * 7 * _DAY_S
    return min(0.01, alarms_a_week / a_week)


_DAY_S = 86_400.0
