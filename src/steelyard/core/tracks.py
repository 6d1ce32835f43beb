"""Tracks of measurements along revisions, and what changes in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from steelyard.core.estimate import Interval
from steelyard.core.experiment_spec import Direction

ChangeKind = Literal["step", "spike", "creep", "noise"]
ChangeDirection = Literal["better", "worse", "neither"]
AlarmReason = Literal["change", "moved-cost", "host"]


@dataclass(frozen=True, order=True)
class TrackName:
    """What a track is of.

    Parameters
    ----------
    benchmark, metric, host : str
        One benchmark's metric on one host.
    repository, branch : str
        Empty where they are not known.
    """

    benchmark: str
    metric: str
    host: str
    repository: str = ""
    branch: str = ""

    def __str__(self) -> str:
        """The three parts that a person needs, such as ``zstd wall_time @ lab1``."""
        at = f" @ {self.host}" if self.host else ""
        return f"{self.benchmark} {self.metric}{at}".strip()


@dataclass(frozen=True, slots=True)
class TrackPoint:
    """One value of a track.

    Parameters
    ----------
    revision : str
        Where the value holds; of a batch its last revision.
    position : int
        The place of the revision in the topological order of its branch, from 0. Positions may have
        gaps. Several points at one position are runs of one revision.
    value : float
        In the track's unit, finite.
    first_revision : str
        Where the value stands for a batch (Larres 2012, section 2.2): the oldest revision of the
        batch; empty where it stands for `revision` alone.
    time_s : float or None
        When it was measured or committed, in seconds since 1970. Order goes by `position`.
    low, high : float or None
        The interval of the value, where there is one.
    standard_error : float or None
        Of the value, where it is known.
    count : int or None
        Measurements, blocks or trials that the value is made of.
    """

    revision: str
    position: int
    value: float
    first_revision: str = ""
    time_s: float | None = None
    low: float | None = None
    high: float | None = None
    standard_error: float | None = None
    count: int | None = None


@dataclass(frozen=True)
class Track:
    """One benchmark's metric on one host along revisions.

    Parameters
    ----------
    name : TrackName
    unit : str
        Of the values.
    direction : {"lower", "higher"}
        Which values are better.
    points : tuple of TrackPoint
        By position, oldest first.
    interval_confidence : float
        Of the intervals of the points.
    """

    name: TrackName
    unit: str
    direction: Direction
    points: tuple[TrackPoint, ...]
    interval_confidence: float = 0.95


@dataclass(frozen=True)
class Change:
    """Where the level, the trend or the noise of a track becomes another.

    Parameters
    ----------
    track : TrackName
    kind : {"step", "spike", "creep", "noise"}
        A level that stays; one that is taken back within the shortest segment; a slow drift;
        another spread.
    index : int
        Of the series' point at which it first holds, from 0.
    last_index : int
        Of the last point of a spike, and of the point at which a creep ends; `index` for others.
    revision : str
        Of the point at `index`.
    first_revision : str
        The oldest revision that the point at `index` stands for; often `revision`.
    previous_revision : str
        Of the last point without the change, which bisection can start from; empty at the first.
    earliest_index, latest_index : int
        Points between which the change began, with 95 % probability given that there is one.
    size : Interval
        Ratio of the level after it to that before it; of a change of noise, of the standard
        deviations; of a creep, of the levels at its ends.
    difference : Interval
        The same as a difference, in the track's unit.
    direction : {"better", "worse", "neither"}
        By the direction of the metric. More noise is worse.
    confidence : float
        Below 1: 1 - `p_value`.
    p_value : float
        How probable a change as plain as this is in the whole track if nothing changes.
    detector : str
        The name of the detector that found it.
    """

    track: TrackName
    kind: ChangeKind
    index: int
    last_index: int
    revision: str
    first_revision: str
    previous_revision: str
    earliest_index: int
    latest_index: int
    size: Interval
    difference: Interval
    direction: ChangeDirection
    confidence: float
    p_value: float
    detector: str


@dataclass(frozen=True)
class Alarm:
    """What one person is told of: one change, with all tracks that show it.

    Parameters
    ----------
    revision, first_revision : str
        Of the most certain of its changes.
    changes : tuple of Change
        The most certain first; at least one.
    direction : {"better", "worse", "neither"}
        ``"neither"`` where tracks disagree, or a cost only moved.
    reason : {"change", "moved-cost", "host"}
        ``"moved-cost"``: what some benchmarks lost others gained, at one revision. ``"host"``: a
        benchmark that no revision changes moved with it.
    confidence : float
        That at least one of the changes is there.
    """

    revision: str
    first_revision: str
    changes: tuple[Change, ...]
    direction: ChangeDirection
    reason: AlarmReason
    confidence: float
