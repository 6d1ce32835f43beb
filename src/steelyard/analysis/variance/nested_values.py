"""Values at named repetition levels as arrays: which unit each belongs to, at every level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.core.errors import AnalysisError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Pairs of labels are counted in a table while it has at most so many places for each value.
_SPARSEST_TABLE = 8


@dataclass(frozen=True)
class NestedValues:
    """Measurements at named repetition levels, counts being equal or not.

    Parameters
    ----------
    levels : tuple of str
        Highest first, such as ``("build", "execution", "iteration")``. A unit of the lowest
        level is one measurement.
    values : array
        The measurements.
    parents : tuple of array
        One a level, highest first: for each unit of the level the index of the unit of the
        level above that it belongs to; at the highest level all 0, for the experiment.
    """

    levels: tuple[str, ...]
    values: Floats
    parents: tuple[Integers, ...]

    def unit_counts(self) -> tuple[int, ...]:
        """How many units each level has in all, highest first."""
        return tuple(len(parent) for parent in self.parents)

    def repetition_counts(self, depth: int) -> Integers:
        """How often the level at `depth` (0 is the highest) is repeated in each unit above."""
        return np.bincount(self.parents[depth]).astype(np.int64)

    @property
    def balanced(self) -> bool:
        """Whether every level has the same count of repetitions everywhere."""
        return all(
            bool(np.ptp(self.repetition_counts(depth)) == 0) for depth in range(len(self.levels))
        )


def nested_values(
    levels: Sequence[str], labels: Sequence[Integers], values: Floats
) -> NestedValues:
    """Sort values into the units that their labels name.

    Parameters
    ----------
    levels : sequence of str
        Names, highest first.
    labels : sequence of array of int
        One array a level with a label for each value, 0 or above. A label holds within its
        unit of the level above: execution 0 of build 0 is not execution 0 of build 1.
    values : array
        Measurements, finite.

    Raises
    ------
    AnalysisError
        No value, a value that is not finite, lengths that differ, or two values with the same
        labels at every level.
    """
    _check(levels, labels, values)
    parents: list[Integers] = []
    unit = np.zeros(len(values), dtype=np.int64)
    unit_count = 1
    for label in labels:
        above, unit, unit_count = _units_below(unit, unit_count, label)
        parents.append(above)
    if unit_count != len(values):
        place = _first_repeated(unit)
        raise AnalysisError(
            f"Value {place + 1} has the same labels as one before it at every level: "
            f"{', '.join(levels)}. Name a further level below, or mend the labels.",
            field=levels[-1],
        )
    ordered = np.empty_like(values)
    ordered[unit] = values
    return NestedValues(tuple(levels), ordered, tuple(parents))


def series_of_units(labels: Sequence[Integers], values: Floats) -> list[Floats]:
    """The values of each unit that `labels` name, as for `nested_values`, in their given order."""
    unit, unit_count = np.zeros(len(values), dtype=np.int64), 1
    for label in labels:
        _, unit, unit_count = _units_below(unit, unit_count, label)
    ends = np.cumsum(np.bincount(unit, minlength=unit_count))
    return np.split(values[np.argsort(unit, kind="stable")], ends[:-1])


def mean_of_units(labels: Sequence[Integers], values: Floats) -> float:
    """The mean of what is said of each unit, however often it is said.

    Parameters
    ----------
    labels : sequence of array of int
        One array a level down to that of the units, highest first, as for `nested_values`.
    values : array
        One for each label; those of one unit are averaged first.
    """
    unit = np.zeros(len(values), dtype=np.int64)
    unit_count = 1
    for label in labels:
        _, unit, unit_count = _units_below(unit, unit_count, label)
    return float((np.bincount(unit, values) / np.bincount(unit)).mean())


def _check(levels: Sequence[str], labels: Sequence[Integers], values: Floats) -> None:
    if not levels or len(labels) != len(levels) or len(set(levels)) != len(levels):
        raise AnalysisError("Repetition levels need different names and labels for each of them.")
    if any(len(label) != len(values) for label in labels):
        raise AnalysisError("Every value needs a label at each repetition level.")
    if not len(values):
        raise AnalysisError("There is no value, so that nothing can be told of its variation.")
    if not bool(np.isfinite(values).all()):
        place = int(np.flatnonzero(~np.isfinite(values))[0])
        raise AnalysisError(f"Value {place + 1} is {values[place]}; values must be finite.")


def _units_below(
    unit: Integers, unit_count: int, label: Integers
) -> tuple[Integers, Integers, int]:
    """The units that `label` divides the units above into: their parents, the unit of each
    value, and how many there are. Units of one parent follow each other."""
    label_count = int(label.max()) + 1
    if unit_count * label_count > _SPARSEST_TABLE * len(label):
        label = np.unique(label, return_inverse=True)[1].reshape(-1).astype(np.int64)
        label_count = int(label.max()) + 1
    pair = unit * label_count + label
    if unit_count * label_count > _SPARSEST_TABLE * len(label):
        found, place = np.unique(pair, return_inverse=True)
        return found // label_count, place.reshape(-1).astype(np.int64), len(found)
    present = np.bincount(pair, minlength=unit_count * label_count) > 0
    ranks = np.cumsum(present) - 1
    found = np.flatnonzero(present)
    return found // label_count, ranks[pair], len(found)


def _first_repeated(unit: Integers) -> int:
    """The index of the first value whose unit an earlier value has."""
    order = np.argsort(unit, kind="stable")
    again = order[1:][unit[order][1:] == unit[order][:-1]]
    return int(again.min())
