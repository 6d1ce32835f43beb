"""A value of a track as a file or an experiment gives it, before it has its place in a store."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.core.experiment_spec import Direction


@dataclass(frozen=True, slots=True)
class TrackRow:
    """One value of one benchmark's metric at one revision.

    Parameters
    ----------
    benchmark, metric, unit : str
        What was measured; the unit is ``"s"``, ``"bytes"``, ``"count"`` or the source's own.
    value : float
        The mean, or what the source gives in its place.
    direction : str
        Whether ``"lower"`` or ``"higher"`` is better.
    revision : str or None
        What it was measured at; None where the source does not say.
    low, high, confidence : float or None
        Its interval, where there is one, and what that covers.
    observations : tuple of float
        The values of single trials, where they are known.
    trial_count : int
        How many trials the value is the mean of; 0 where that is not known.
    measured_unix_s : float or None
        When it was measured.
    committed_unix_s : float or None
        When its revision was made.
    position : int or None
        Where a source without a repository puts it along the track.
    first_revision : str or None
        Where the value stands for a batch: the first revision of the range that `revision` ends.
    host, branch : str or None
        None where the source does not say.
    """

    benchmark: str
    metric: str
    unit: str
    value: float
    direction: Direction = "lower"
    revision: str | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    observations: tuple[float, ...] = ()
    trial_count: int = 0
    measured_unix_s: float | None = None
    committed_unix_s: float | None = None
    position: int | None = None
    first_revision: str | None = None
    host: str | None = None
    branch: str | None = None
