"""Changes and alarms with what is known beside the tracks: what was done, what was confirmed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from steelyard.analysis.history.confirmation import ConfirmationVerdict
from steelyard.analysis.history.drawn_points import DrawnPoints
from steelyard.core.estimate import Interval
from steelyard.core.experiment_results import Caution
from steelyard.core.experiment_spec import Direction
from steelyard.core.tracks import Alarm, Change, TrackName

AlarmState = Literal["new", "old", "acknowledged", "snoozed", "refuted", "host"]


@dataclass(frozen=True)
class Confirmation:
    """What a run of base against candidate said of an alarm.

    Parameters
    ----------
    verdict : {"confirmed", "refuted", "unclear"}
    base : str
        The revision that the alarm's was compared with.
    ratio : Interval or None
        Candidate / base; None where nothing could be measured.
    experiment : str
        Its identifier in the store; empty where there is none.
    reason : str
        Why it is unclear; empty otherwise.
    """

    verdict: ConfirmationVerdict
    base: str
    ratio: Interval | None
    experiment: str
    reason: str = ""


@dataclass(frozen=True)
class TrackChanges:
    """A track with its changes.

    Parameters
    ----------
    name : TrackName
    unit : str
    direction : {"lower", "higher"}
    number : int or None
        In the store.
    count : int
        Of its values, runs of one revision counted once.
    newest_revision : str
    newest_value : float
    changes : tuple of Change
        Oldest first.
    drawn : DrawnPoints or None
        What a page draws.
    ranges : tuple of tuple of str
        For each change the revisions between which it began, with 95 % probability.
    spans : tuple of tuple of str
        For each change the revisions that it is known by; see `change_span`.
    new : frozenset of int
        The places in `changes` of those that its newest values brought.
    """

    name: TrackName
    unit: str
    direction: Direction
    number: int | None
    count: int
    newest_revision: str
    newest_value: float
    changes: tuple[Change, ...]
    drawn: DrawnPoints | None = None
    ranges: tuple[tuple[str, ...], ...] = ()
    spans: tuple[tuple[str, ...], ...] = ()
    new: frozenset[int] = frozenset()


@dataclass(frozen=True)
class StatedAlarm:
    """An alarm with what is known of it.

    Parameters
    ----------
    alarm : Alarm
    state : str
        ``"new"`` where the newest values brought it and nobody did anything about it;
        ``"old"`` where it begins before; ``"host"`` where the host changed; else what was done
        about it.
    subject : str
        The first line of the commit's message; empty where it is not known.
    link : str
        The address of the commit; empty where there is none.
    note : str
        What whoever acknowledged it wrote.
    confirmation : Confirmation or None
        What a run of base against candidate said.
    """

    alarm: Alarm
    state: AlarmState
    subject: str = ""
    link: str = ""
    note: str = ""
    confirmation: Confirmation | None = None


@dataclass(frozen=True)
class FoundChanges:
    """All tracks that were looked at, with their changes and alarms."""

    detector: str
    tracks: tuple[TrackChanges, ...]
    alarms: tuple[StatedAlarm, ...]
    cautions: tuple[Caution, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of all tracks."""
        return tuple(change for track in self.tracks for change in track.changes)
