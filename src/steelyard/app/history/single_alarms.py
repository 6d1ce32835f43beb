"""Alarms out of the changes of tracks: what begins at one revision is told once."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from steelyard.core.tracks import Alarm, Change, ChangeDirection


def alarms_of_changes(changes: Iterable[Change]) -> list[Alarm]:
    """One alarm for each revision of a repository, the most certain first."""
    grouped: dict[tuple[str, str, str], list[Change]] = {}
    for change in changes:
        track = change.track
        key = (track.repository, track.branch, change.revision)
        if not track.repository:
            key = (str(track), *key[1:])
        grouped.setdefault(key, []).append(change)
    alarms = [
        _alarm(sorted(group, key=lambda change: change.p_value)) for group in grouped.values()
    ]
    return sorted(alarms, key=lambda alarm: -alarm.confidence)


def _alarm(changes: list[Change]) -> Alarm:
    directions: set[ChangeDirection] = {change.direction for change in changes}
    agreed: ChangeDirection = directions.pop() if len(directions) == 1 else "neither"
    return Alarm(
        revision=changes[0].revision,
        first_revision=changes[0].first_revision,
        changes=tuple(changes),
        direction=agreed,
        reason="change",
        confidence=1.0 - prod(change.p_value for change in changes),
    )
