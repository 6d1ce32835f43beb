"""A track as columns, which is what detectors read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import sqrt
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.analysis.intervals.mean import two_sided
from steelyard.core.errors import AnalysisError
from steelyard.core.experiment_spec import Direction
from steelyard.core.tracks import Track, TrackName, TrackPoint

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
# Fourth powers of larger values, and of smaller ones but 0, are near the ends of floating point.
_LARGEST = 1e60


@dataclass(frozen=True)
class Series:
    """The values of a track, one for each revision.

    Parameters
    ----------
    name : TrackName
    direction : {"lower", "higher"}
        Which values are better.
    values : array, shape (n,)
        Oldest first, in the track's unit, all finite.
    standard_errors : array, shape (n,)
        Of each value; NaN where none is known.
    revisions : sequence of str, length n
    first_revisions : sequence of str, length n
        The oldest revision that each value stands for.
    """

    name: TrackName
    direction: Direction
    values: Floats
    standard_errors: Floats
    revisions: Sequence[str]
    first_revisions: Sequence[str]

    def __len__(self) -> int:
        return len(self.values)

    def part(self, first: int, last: int) -> Series:
        """The series of the points from `first` up to before `last`."""
        return Series(
            self.name,
            self.direction,
            self.values[first:last],
            self.standard_errors[first:last],
            self.revisions[first:last],
            self.first_revisions[first:last],
        )


def series_of_values(
    values: Sequence[float] | Floats,
    direction: Direction = "lower",
    name: TrackName | None = None,
    revisions: Sequence[str] | None = None,
) -> Series:
    """The series of bare values; revisions are named by their index where there are no names.

    Raises
    ------
    AnalysisError
        A value is not finite, or too large or too small to reckon with.
    """
    column = np.asarray(values, dtype=np.float64)
    named = TrackName("", "", "") if name is None else name
    wrong = np.flatnonzero(~_can_be_reckoned_with(column))
    names = [str(index) for index in range(len(column))] if revisions is None else revisions
    if len(wrong):
        raise _not_finite(named, names[int(wrong[0])], float(column[wrong[0]]))
    return Series(named, direction, column, np.full(len(column), np.nan), names, names)


def series_of(track: Track) -> Series:
    """The series of a track; runs of one revision become one value.

    Raises
    ------
    AnalysisError
        A value is not finite, or too large or too small to reckon with; or the points are not in
        the order of their positions.

    Notes
    -----
    The value of several runs is their mean, weighted by their counts where all have one. Its
    standard error is the larger of what theirs come to and what their differences come to.
    """
    quantile = normal_quantile(two_sided(track.interval_confidence))
    single = np.array([point.value for point in track.points], dtype=np.float64)
    for wrong in np.flatnonzero(~_can_be_reckoned_with(single)).tolist():
        raise _not_finite(track.name, track.points[wrong].revision, track.points[wrong].value)
    points: list[TrackPoint] = []
    errors: list[float] = []
    last = None
    for position, group in groupby(track.points, key=attrgetter("position")):
        runs = list(group)
        if last is not None and position <= last:
            raise AnalysisError(
                f"The points of {track.name} are not in the order of their revisions at "
                f"{runs[0].revision!r}.",
                field="position",
            )
        last = position
        point, error = _one_point(runs, quantile)
        points.append(point)
        errors.append(error)
    return Series(
        name=track.name,
        direction=track.direction,
        values=np.array([point.value for point in points], dtype=np.float64),
        standard_errors=np.array(errors, dtype=np.float64),
        revisions=[point.revision for point in points],
        first_revisions=[point.first_revision or point.revision for point in points],
    )


def _one_point(runs: list[TrackPoint], quantile: float) -> tuple[TrackPoint, float]:
    """The point and the standard error of the runs of one revision."""
    if len(runs) == 1:
        return runs[0], _standard_error(runs[0], quantile)
    errors = np.array([_standard_error(run, quantile) for run in runs])
    values = np.array([run.value for run in runs])
    counts = np.array([float(run.count or 0) for run in runs])
    weights = counts / counts.sum() if (counts > 0).all() else np.full(len(runs), 1 / len(runs))
    mean = float(weights @ values)
    between = sqrt(float(weights @ np.square(values - mean)) / (len(runs) - 1))
    within = sqrt(float(np.square(weights) @ np.square(errors)))
    first = runs[0]
    point = TrackPoint(first.revision, first.position, mean, first.first_revision)
    return point, between if np.isnan(within) else max(between, within)


def _standard_error(point: TrackPoint, quantile: float) -> float:
    if point.standard_error is not None:
        return point.standard_error
    if point.low is not None and point.high is not None:
        return (point.high - point.low) / (2 * quantile)
    return float("nan")


def _can_be_reckoned_with(values: Floats) -> Flags:
    sizes = np.abs(values)
    return (sizes <= _LARGEST) & ((sizes == 0.0) | (sizes >= 1.0 / _LARGEST))


def _not_finite(name: TrackName, revision: str, value: float) -> AnalysisError:
    return AnalysisError(
        f"The value of {str(name) or 'the track'} at revision {revision!r} is {value}; "
        f"it must be a finite number, and 0 or between {1 / _LARGEST:g} and {_LARGEST:g} in size.",
        field="value",
    )
