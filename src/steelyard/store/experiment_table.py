"""Experiments as tables with one row a measurement, for formats that are tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from steelyard.core.decoding import number_of
from steelyard.core.errors import DataError
from steelyard.core.experiment_check import LARGEST_INDEX
from steelyard.core.experiment_results import Experiment, FailureReason, Trial
from steelyard.core.experiment_spec import MetricSpec
from steelyard.core.placement_spec import PLACE_COLUMNS, WORKER
from steelyard.core.repeated_name import repeated_name
from steelyard.core.units import LARGEST_VALUE, LARGEST_WHOLE
from steelyard.store.imported_experiments import imported_experiment, imported_variant
from steelyard.store.table_columns import (
    INDICES,
    KNOWN_COLUMNS,
    OF_TRIAL,
    REQUIRED,
    TIMES,
)
from steelyard.store.table_places import Place, counted_blocks, place_of, placement_of

# Of warm-ups.
_NO_BLOCK = -1
Row = Mapping[str, Any]


@dataclass(slots=True)
class _Draft:
    """A trial whose rows are still being read."""

    position: int | None
    block: int | None
    build: int
    variant: int
    warmup: bool
    reason: FailureReason | None
    failed: bool
    exit_code: int | None
    started_unix_s: float
    spent_s: float
    said: tuple[Any, ...]
    place: Place | None
    measurements: dict[str, dict[int | None, float]] = field(default_factory=dict)


class _TableReader:
    """Gathers rows into trials and says, of a wrong cell, in which row and column."""

    def __init__(self, source: Mapping[str, Any]) -> None:
        self.path = source["file"]
        self.created_unix_s: float = source["created_unix_s"]
        self.variants: dict[str, int] = {}
        self.benchmarks: dict[str, str] = {}
        self.metrics: dict[str, MetricSpec] = {}
        self.drafts: dict[Any, _Draft] = {}
        # By the blocks of the table, where it has workers.
        self.places: dict[int, Place] = {}
        self.number = 0

    def error(self, column: str, wanted: str, found: Any) -> DataError:
        """The error for a cell of the present row."""
        return DataError(
            f"{self.path}: row {self.number}, column {column!r} must be {wanted}, not {found!r}.",
            field=column,
        )

    def cell(self, row: Row, column: str, default: Any = None) -> Any:
        """The cell as the type of its column; `default` where it is empty or missing."""
        value = row.get(column)
        if value is None or value == "":
            return default
        kind = KNOWN_COLUMNS[column]
        if kind is bool:
            known = {"true": True, "false": False, "1": True, "0": False}
            if str(value).lower() not in known:
                raise self.error(column, "true or false", value)
            return known[str(value).lower()]
        try:
            if isinstance(value, bool) and kind is not str:
                raise TypeError
            converted: Any = kind(value)
            if isinstance(value, str) and kind is not str:
                converted = number_of(value, int if kind is int else float)
            if isinstance(value, float) and converted != value and not math.isnan(value):
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            raise self.error(column, f"of type {kind.__name__}", value) from None
        if kind is int and abs(converted) > LARGEST_WHOLE:
            raise self.error(column, "a whole number of at most 64 bits", value)
        # Warm-ups come before the first position, and are of no block.
        least = {"position": -LARGEST_INDEX, "block": _NO_BLOCK}.get(column, 0)
        if column in INDICES and not least <= converted <= LARGEST_INDEX:
            raise self.error(column, f"a whole number from {least} to {LARGEST_INDEX}", value)
        if column in TIMES and not 0 <= converted <= TIMES[column][0]:
            raise self.error(column, TIMES[column][1], value)
        return converted

    def add(self, row: Row) -> None:
        """Take one row."""
        self.number += 1
        name = self.cell(row, "variant")
        if name is None:
            raise self.error("variant", "a name", row.get("variant"))
        benchmark = self.cell(row, "benchmark", "")
        if benchmark and name != benchmark and not name.startswith(f"{benchmark} "):
            name = f"{benchmark} {name}"
        if self.benchmarks.setdefault(name, benchmark) != benchmark:
            raise self.error("benchmark", "the same in all rows of a variant", benchmark)
        variant = self.variants.setdefault(name, len(self.variants))
        draft = self._draft(row, variant)
        value = self.cell(row, "value")
        if value is None:
            if not draft.failed and self.cell(row, "metric") is not None:
                raise self.error("value", "a number", row.get("value"))
            return
        if not math.isfinite(value):
            raise self.error("value", "a finite number", value)
        if abs(value) > LARGEST_VALUE:
            raise self.error("value", f"at most {LARGEST_VALUE:.0e} to be plausible", value)
        metric = self.cell(row, "metric", "wall_time")
        self._keep(draft, metric, value, row)
        if metric not in self.metrics:
            self.metrics[metric] = self._metric(row, metric)

    def _keep(self, draft: _Draft, metric: str, value: float, row: Row) -> None:
        values = draft.measurements.setdefault(metric, {})
        iteration = self.cell(row, "iteration")
        if values and (iteration in values or iteration is None or None in values):
            wanted = f"another number in each row of {metric} of one execution"
            raise self.error("iteration", wanted, row.get("iteration"))
        values[iteration] = value

    def _metric(self, row: Row, name: str) -> MetricSpec:
        direction = self.cell(row, "direction", "lower")
        if direction not in ("lower", "higher"):
            raise self.error("direction", "lower or higher", direction)
        unit = self.cell(row, "unit", "s" if name == "wall_time" else "")
        return MetricSpec(name, unit, direction)

    def _draft(self, row: Row, variant: int) -> _Draft:
        """The trial that the row belongs to: by position, else execution, else its own."""
        position, build = self.cell(row, "position"), self.cell(row, "build", 0)
        execution = self.cell(row, "execution")
        key: Any = self.number
        if position is not None:
            key = ("position", position)
        elif execution is not None:
            key = (variant, build, execution, row.get(WORKER))
        found = self.drafts.get(key)
        said = tuple(row.get(column) for column in OF_TRIAL)
        if found is None:
            found = self.drafts[key] = self._new_draft(row, variant, position, build)
            found.said = said
        elif found.variant != variant:
            raise self.error("position", "of one variant only", position)
        elif found.said != said:
            place = next(i for i, cell in enumerate(said) if cell != found.said[i])
            raise self.error(OF_TRIAL[place], f"{found.said[place]!r} as before", said[place])
        return found

    def _new_draft(self, row: Row, variant: int, position: int | None, build: int) -> _Draft:
        status, reason = self.cell(row, "status", "ok"), self.cell(row, "reason")
        if status not in ("ok", "failed"):
            raise self.error("status", "ok or failed", status)
        if reason is not None and reason not in get_args(FailureReason):
            raise self.error("reason", "one of " + ", ".join(get_args(FailureReason)), reason)
        block, place = self.cell(row, "block"), self._place(row)
        warmup = self.cell(row, "warmup", False)
        if block == _NO_BLOCK and not warmup:
            raise self.error("block", "0 or more, as only warm-ups are of none", block)
        if block not in (None, _NO_BLOCK) and place is not None:
            first = self.places.setdefault(block, place)
            if first != place:
                raise self.error(WORKER, f"{first[0]!r} with its levels in block {block}", place[0])
        return _Draft(
            position=position,
            block=block,
            build=build,
            variant=variant,
            warmup=warmup,
            reason=reason,
            failed=status == "failed",
            exit_code=self.cell(row, "exit_code"),
            started_unix_s=self.cell(row, "started_unix_s", self.created_unix_s),
            spent_s=self.cell(row, "spent_s", 0.0),
            said=(),
            place=place,
        )

    def _place(self, row: Row) -> Place | None:
        """Where a trial ran; a table has a worker in all of its rows or in none."""
        place = place_of({name: self.cell(row, name) for name in PLACE_COLUMNS})
        before = next(iter(self.drafts.values()), None)
        if before is not None and (before.place is None) != (place is None):
            raise self.error(WORKER, "there in all rows or in none", row.get(WORKER))
        return place

    def trials(self) -> list[Trial]:
        """The trials of all rows; blocks count the trials of a variant where the table has none."""
        drafts = list(self.drafts.values())
        counts = counted_blocks([(draft.variant, draft.place) for draft in drafts])
        trials: list[Trial] = []
        for number, (draft, count) in enumerate(zip(drafts, counts, strict=True)):
            if draft.block is None and draft.place is not None:
                self.places[count] = draft.place
            details = {} if draft.exit_code is None else {"exit_code": draft.exit_code}
            trials.append(
                Trial(
                    position=number if draft.position is None else draft.position,
                    block=count if draft.block is None else draft.block,
                    variant=draft.variant,
                    build=draft.build,
                    warmup=draft.warmup,
                    status="failed" if draft.failed else "ok",
                    reason=draft.reason,
                    started_unix_s=draft.started_unix_s,
                    spent_s=draft.spent_s,
                    measurements={k: _in_order(v) for k, v in draft.measurements.items()},
                    details=details,
                )
            )
        return sorted(trials, key=lambda trial: trial.position)


def _in_order(values: Mapping[int | None, float]) -> tuple[float, ...]:
    if len(values) == 1:
        return tuple(values.values())
    return tuple(values[iteration] for iteration in sorted(values, key=lambda i: i or 0))


def check_columns(path: str, columns: Iterable[str]) -> None:
    """Refuse a table that lacks a column that must be there.

    Raises
    ------
    DataError
        It names the column.
    """
    names = list(columns)
    twice = repeated_name(names)
    if twice is not None:
        raise DataError(f"{path} has the column {twice!r} twice.", field=twice)
    missing = [name for name in REQUIRED if name not in set(names)]
    if missing:
        raise DataError(
            f"{path} lacks the column {missing[0]!r}. A table of measurements has one row a "
            f"measurement; {' and '.join(REQUIRED)} must be there, and these may be: "
            f"{', '.join(name for name in KNOWN_COLUMNS if name not in REQUIRED)}.",
            field=missing[0],
        )


def experiment_from_rows(rows: Iterable[Row], source: dict[str, Any]) -> Experiment:
    """The experiment of a table, whose rows may be in any order.

    Parameters
    ----------
    source : dict
        As `imported.file_source` gives it.

    Raises
    ------
    DataError
        A cell is wrong, rows contradict each other, or there are none.
    """
    reader = _TableReader(source)
    for row in rows:
        reader.add(row)
    if not reader.metrics:
        raise DataError(f"{reader.path} holds no measurement.", field="value")
    trials = reader.trials()
    blocked = any(draft.block is not None for draft in reader.drafts.values())
    made = imported_experiment(
        {**source, "created_unix_s": min(trial.started_unix_s for trial in trials)},
        [imported_variant(name, benchmark=reader.benchmarks[name]) for name in reader.variants],
        list(reader.metrics.values()),
        trials,
        order="blocks" if blocked else "sequential",
    )
    return replace(made, spec=replace(made.spec, placement=placement_of(reader.places)))
