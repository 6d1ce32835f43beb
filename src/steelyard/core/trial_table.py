"""The trials of an experiment as columns, which an analysis reads without an object for each."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import eq
from typing import Any, cast, get_args, overload

from steelyard.core.experiment_results import FailureReason, Trial, TrialStatus
from steelyard.core.trial_columns import (
    Pick,
    SharedColumn,
    ValueColumn,
    absent,
    is_rising,
    measurements_of,
    numbers_at,
)

STATUSES: tuple[TrialStatus, ...] = get_args(TrialStatus)
REASONS: tuple[FailureReason | None, ...] = (None, *get_args(FailureReason))
FAILED = STATUSES.index("failed")
_PLAIN = ("position", "block", "variant", "build", "warmup", "status", "reason")
_TIMES = ("started_unix_s", "spent_s")
_SHARED = ("realised", "details", "levels")


def _index() -> array[int]:
    return array("i")


def _code() -> array[int]:
    return array("b")


def _doubles() -> array[float]:
    return array("d")


@dataclass(eq=False)
class TrialTable(Sequence[Trial]):
    """A sequence of trials that are made one by one when somebody looks at them.

    A column is an array with a number for each trial; `status` and `reason` are places in
    `STATUSES` and `REASONS`. Tables are not changed once they are made.
    """

    position: array[int] = field(default_factory=_index)
    block: array[int] = field(default_factory=_index)
    variant: array[int] = field(default_factory=_index)
    build: array[int] = field(default_factory=_index)
    warmup: array[int] = field(default_factory=_code)
    status: array[int] = field(default_factory=_code)
    reason: array[int] = field(default_factory=_code)
    started_unix_s: array[float] = field(default_factory=_doubles)
    spent_s: array[float] = field(default_factory=_doubles)
    realised: SharedColumn = field(default_factory=SharedColumn)
    details: SharedColumn = field(default_factory=SharedColumn)
    levels: SharedColumn = field(default_factory=SharedColumn)
    measurements: dict[str, ValueColumn] = field(default_factory=dict[str, ValueColumn])
    _chosen: dict[tuple[str, int], TrialTable] = field(
        default_factory=dict[tuple[str, int], "TrialTable"], init=False, repr=False
    )

    @classmethod
    def of(cls, trials: Iterable[Trial]) -> TrialTable:
        """The table of these trials; itself for a table."""
        if isinstance(trials, cls):
            return trials
        rows = list(trials)
        whole = {
            name: array("i", [getattr(trial, name) for trial in rows])
            for name in ("position", "block", "variant", "build")
        }
        names = dict.fromkeys(chain.from_iterable(trial.measurements for trial in rows))
        return cls(
            **whole,
            warmup=array("b", [trial.warmup for trial in rows]),
            status=array("b", [STATUSES.index(trial.status) for trial in rows]),
            reason=array("b", [REASONS.index(trial.reason) for trial in rows]),
            started_unix_s=array("d", [trial.started_unix_s for trial in rows]),
            spent_s=array("d", [trial.spent_s for trial in rows]),
            realised=SharedColumn.of(trial.realised for trial in rows),
            details=SharedColumn.of(trial.details for trial in rows),
            levels=SharedColumn.of(trial.levels for trial in rows),
            measurements={
                name: ValueColumn.of([trial.measurements.get(name) for trial in rows])
                for name in names
            },
        )

    @classmethod
    def joined(cls, tables: Iterable[TrialTable]) -> TrialTable:
        """The trials of one table after those of the other."""
        found = cls()
        for table in tables:
            before, count = len(found), len(table)
            for name in (*_PLAIN, *_TIMES, *_SHARED):
                getattr(found, name).extend(getattr(table, name))
            for name in dict.fromkeys((*found.measurements, *table.measurements)):
                own = found.measurements.get(name)
                if own is None:
                    own = absent(before) if before else ValueColumn()
                    found.measurements[name] = own
                own.extend(table.measurements.get(name), before, count)
        return found

    def __len__(self) -> int:
        return len(self.position)

    def __iter__(self) -> Iterator[Trial]:
        return map(
            Trial,
            self.position,
            self.block,
            self.variant,
            map(bool, self.warmup),
            map(STATUSES.__getitem__, self.status),
            map(REASONS.__getitem__, self.reason),
            self.started_unix_s,
            self.spent_s,
            measurements_of(self.measurements, len(self)),
            self.build,
            iter(self.realised),
            iter(self.details),
            iter(self.levels),
        )

    @overload
    def __getitem__(self, place: int) -> Trial: ...
    @overload
    def __getitem__(self, place: slice) -> TrialTable: ...
    def __getitem__(self, place: int | slice) -> Trial | TrialTable:
        if isinstance(place, slice):
            return self.picked(range(len(self))[place])
        return next(iter(self.picked([range(len(self))[place]])))

    def __eq__(self, other: object) -> bool:
        """Whether `other` is a sequence of the same trials."""
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        rows = cast("Sequence[Any]", other)
        return len(self) == len(rows) and all(map(eq, self, rows))

    __hash__ = None  # type: ignore[assignment]

    def picked(self, places: Sequence[int], pick: Pick = numbers_at) -> TrialTable:
        """The trials at these places, in their order."""
        numbers = {name: pick(getattr(self, name), places) for name in (*_PLAIN, *_TIMES)}
        shared = {name: getattr(self, name).picked(places, pick) for name in _SHARED}
        measured = {name: own.picked(places, pick) for name, own in self.measurements.items()}
        return TrialTable(**numbers, **shared, measurements=measured)

    def only(
        self,
        variant: int | None = None,
        *,
        warmup: bool | None = None,
        failed: bool | None = None,
        pick: Pick = numbers_at,
    ) -> TrialTable:
        """The trials of a variant, the warm-ups or the others, the failed ones or the others."""
        found = self
        for name, wanted in (
            ("variant", variant),
            ("warmup", warmup),
            ("status", None if failed is None else FAILED if failed else 1 - FAILED),
        ):
            if wanted is not None:
                found = found._with(name, int(wanted), pick)
        return found

    def _with(self, name: str, wanted: int, pick: Pick) -> TrialTable:
        """The trials of which a column is a number; asked for again, the same table."""
        column: array[int] = getattr(self, name)
        if column.count(wanted) == len(column):
            return self
        if (name, wanted) not in self._chosen:
            places = array("q", [at for at, number in enumerate(column) if number == wanted])
            self._chosen[name, wanted] = self.picked(places, pick)
        return self._chosen[name, wanted]

    def in_order(self) -> TrialTable:
        """By their positions."""
        if is_rising(self.position):
            return self
        return self.picked(sorted(range(len(self)), key=self.position.__getitem__))

    def mapped(self, realised: Callable[[Any], Any], details: Callable[[Any], Any]) -> TrialTable:
        """With what was realised and the details as these functions make them."""
        return replace(
            self, realised=self.realised.mapped(realised), details=self.details.mapped(details)
        )
