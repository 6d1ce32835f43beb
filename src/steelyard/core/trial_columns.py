"""Columns of trials: numbers, values that many trials share, and measurements.

Arrays of the standard library, which numpy reads without a copy where an analysis wants it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, repeat
from operator import lt
from typing import Any, TypeAlias

# From here on it is worth it for an analysis to import numpy.
MANY = 20_000
# Above this many iterations an array takes a quarter of a tuple's memory and loads faster.
ARRAY_COUNT = 16
_NOT_THERE = -1
# Takes the numbers at some places of a column. An analysis of many trials brings a faster one.
Pick: TypeAlias = "Callable[[array[Any], Sequence[int]], array[Any]]"


def numbers_at(column: array[Any], places: Sequence[int]) -> array[Any]:
    """The numbers at these places, in their order."""
    return array(column.typecode, map(column.__getitem__, places))


def is_rising(column: Sequence[int]) -> bool:
    """Whether each number is above the one before it."""
    return all(map(lt, column, column[1:]))


@dataclass
class SharedColumn:
    """Values of which many trials have the same: each is there once.

    Parameters
    ----------
    codes : array of int
        For each trial, the place of its value in `known`.
    known : list
        Values that some trial has, or has had before trials were left out.
    """

    codes: array[int] = field(default_factory=lambda: array("i"))
    known: list[Any] = field(default_factory=list[Any])
    _places: dict[int, int] = field(default_factory=dict[int, int], repr=False)

    @classmethod
    def of(cls, values: Iterable[Any]) -> SharedColumn:
        """The column of these values; those that are one object are one value."""
        found = cls()
        found.codes.extend(map(found._place, values))
        return found

    def _place(self, value: Any) -> int:
        """Where a value is in `known`, which keeps it, so that its identity stays its own."""
        place = self._places.setdefault(id(value), len(self.known))
        if place == len(self.known):
            self.known.append(value)
        return place

    def __iter__(self) -> Iterator[Any]:
        return map(self.known.__getitem__, self.codes)

    def __getitem__(self, place: int) -> Any:
        return self.known[self.codes[place]]

    def picked(self, places: Sequence[int], pick: Pick = numbers_at) -> SharedColumn:
        """Those of the trials at these places."""
        return SharedColumn(pick(self.codes, places), self.known)

    def mapped(self, change: Callable[[Any], Any]) -> SharedColumn:
        """With each value as `change` makes it."""
        return SharedColumn(self.codes, [change(value) for value in self.known])

    def extend(self, other: SharedColumn) -> None:
        """Take the values of further trials; none may have been picked or mapped before."""
        new = [self._place(value) for value in other.known]
        if len(new) == 1:
            self.codes.extend(array("i", new) * len(other.codes))
        else:
            self.codes.extend(array("i", map(new.__getitem__, other.codes)))


@dataclass
class ValueColumn:
    """The measurements of one metric.

    Parameters
    ----------
    values : array of float
        The iterations of all trials, one trial after the other.
    counts : array of int or None
        How many of them are each trial's, -1 where it lacks the metric; None where each has one.
    """

    values: array[float] = field(default_factory=lambda: array("d"))
    counts: array[int] | None = None

    @classmethod
    def of(cls, series: Sequence[Sequence[float] | None]) -> ValueColumn:
        """The column of these iterations; None where a trial lacks the metric."""
        counts = array("q", [_NOT_THERE if own is None else len(own) for own in series])
        values = array("d", chain.from_iterable(own for own in series if own is not None))
        plain = len(values) == len(counts) and min(counts, default=1) == 1
        return cls(values, None if plain else counts)

    def starts(self) -> Sequence[int]:
        """Where the values of each trial begin."""
        if self.counts is None:
            return range(len(self.values))
        return array("q", accumulate((max(0, count) for count in self.counts), initial=0))

    def series(self) -> Iterable[Sequence[float] | None]:
        """The iterations of each trial."""
        if self.counts is None:
            return zip(self.values)
        return map(self._between, self.starts(), self.counts)

    def _between(self, start: int, count: int) -> Sequence[float] | None:
        if count < 0:
            return None
        own = self.values[start : start + count]
        return own if count > ARRAY_COUNT else tuple(own)

    def picked(self, places: Sequence[int], pick: Pick = numbers_at) -> ValueColumn:
        """Those of the trials at these places."""
        if self.counts is None:
            return ValueColumn(pick(self.values, places))
        starts, counts = self.starts(), pick(self.counts, places)
        values = array("d")
        for place, count in zip(places, counts, strict=True):
            if count > 0:
                values.extend(self.values[starts[place] : starts[place] + count])
        plain = len(values) == len(counts) and min(counts, default=1) == 1
        return ValueColumn(values, None if plain else counts)

    def extend(self, other: ValueColumn | None, before: int, count: int) -> None:
        """Take the values of `count` trials more, None where they lack the metric; there were
        `before`."""
        if self.counts is None and other is not None and other.counts is None:
            self.values.extend(other.values)
            return
        if self.counts is None:
            self.counts = array("q", [1]) * before
        if other is None:
            self.counts.extend(repeat(_NOT_THERE, count))
            return
        self.counts.extend(other.counts or array("q", [1]) * count)
        self.values.extend(other.values)


def absent(count: int) -> ValueColumn:
    """The column of a metric that so many trials lack."""
    return ValueColumn(counts=array("q", [_NOT_THERE]) * count)


def measurements_of(
    columns: Mapping[str, ValueColumn], count: int
) -> Iterable[dict[str, Sequence[float]]]:
    """For each trial its iterations by metric, without those that it lacks."""
    if not columns:
        return ({} for _ in range(count))
    names = tuple(columns)
    rows = zip(*(column.series() for column in columns.values()), strict=True)
    if all(column.counts is None for column in columns.values()):
        return (dict(zip(names, own, strict=True)) for own in rows)
    return (
        {name: values for name, values in zip(names, own, strict=True) if values is not None}
        for own in rows
    )
