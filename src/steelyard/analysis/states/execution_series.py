"""The iterations of each execution of a table, and why some of them cannot be judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.analysis.states.segment_cost import Integers
from steelyard.analysis.tables.data_columns import Floats, Table
from steelyard.core.errors import AnalysisError
from steelyard.core.experiment_results import Caution

VALUE = "value"
_LOWEST = "iteration"
# Kalibera and Jones's initial experiment has as many; fewer leave nothing to tell a steady state
# from its beginning.
FEWEST_ITERATIONS = 30


@dataclass(frozen=True)
class IterationSeries:
    """The iterations of one execution in their order, NaN where one is missing."""

    label: str
    values: Floats


def iteration_series(table: Table) -> tuple[IterationSeries, ...]:
    """The executions of a table with one row a measurement.

    The column ``iteration`` says their order, by its numbers, or by the rows where it holds text;
    each unit of the levels that the other columns name is an execution.

    Raises
    ------
    AnalysisError
        Columns are missing, the values are no numbers, or two rows have the same labels.
    """
    upper = _upper_columns(table)
    values = table.numbers(VALUE, VALUE)
    codes, labels = _executions(table, upper)
    order = table.column(_LOWEST, _LOWEST)
    places = np.arange(table.row_count, dtype=np.float64) if isinstance(order, tuple) else order
    if np.isnan(places).any():
        line = table.lines[int(np.argmax(np.isnan(places)))]
        raise AnalysisError(
            f"{table.source}, line {line}, column {_LOWEST!r}: wanted the number of an iteration, "
            "found none.",
            field=_LOWEST,
        )
    sorting = np.lexsort((places, codes))
    _refuse_doubles(table, codes[sorting], places[sorting], sorting)
    bounds = np.flatnonzero(np.diff(codes[sorting])) + 1
    return tuple(
        IterationSeries(labels[int(codes[rows[0]])], _with_gaps(places[rows], values[rows]))
        for rows in np.split(sorting, bounds)
    )


def _upper_columns(table: Table) -> list[str]:
    """The columns of the levels above the iterations."""
    names = [name for name in table.columns if name != VALUE and not _is_cost(name)]
    if VALUE not in table.columns or _LOWEST not in names:
        known = ", ".join(map(repr, table.columns))
        raise AnalysisError(
            f"{table.source} is no table of iterations: it has the columns {known}. Wanted is one "
            f"row an iteration, with the columns {_LOWEST} and {VALUE}, and those of the levels "
            "above, such as execution. `steelyard import` reads what harnesses write.",
            field=VALUE if VALUE not in table.columns else _LOWEST,
        )
    return [name for name in names if name != _LOWEST]


def _is_cost(name: str) -> bool:
    return name.startswith("cost_") and name.endswith("_s")


def _executions(table: Table, upper: Sequence[str]) -> tuple[Integers, list[str]]:
    """For each row the number of its execution, and their labels, in order of appearance."""
    if not upper:
        return np.zeros(table.row_count, dtype=np.int64), ["1"]
    known: dict[tuple[str, ...], int] = {}
    rows = zip(*(table.texts(name, name) for name in upper), strict=True)
    codes = np.array([known.setdefault(row, len(known)) for row in rows], dtype=np.int64)
    return codes, ["/".join(row) for row in known]


def _refuse_doubles(table: Table, codes: Integers, places: Floats, rows: Integers) -> None:
    double = (np.diff(codes) == 0) & (np.diff(places) == 0)
    if double.any():
        at = int(np.argmax(double))
        first, second = sorted(table.lines[int(row)] for row in rows[at : at + 2])
        raise AnalysisError(
            f"{table.source}, line {second}: the same iteration of the same execution as in line "
            f"{first}. If these are two executions, add a column that tells them apart.",
            field=_LOWEST,
        )


def _with_gaps(places: Floats, values: Floats) -> Floats:
    """The values with NaN for whole numbers that are left out between the first and the last."""
    span = places[-1] - places[0]
    whole = bool((places == np.round(places)).all())
    # Numbers that lie so far apart are times or the like, and not a count.
    if not whole or span >= 2 * len(values) or span < len(values):
        return values
    found = np.full(int(span) + 1, np.nan)
    found[(places - places[0]).astype(np.int64)] = values
    return found


def refusal_of(values: Floats) -> Caution | None:
    """Why an execution cannot be judged; None where it can."""
    missing = int(np.isnan(values).sum())
    if missing:
        at = int(np.argmax(np.isnan(values)))
        return Caution(
            "missing-iterations",
            f"{missing} of its {len(values)} iterations have no value, the first at {at}.",
        )
    wrong = ~np.isfinite(values) | (values <= 0)
    if wrong.any():
        at = int(np.argmax(wrong))
        return Caution(
            "impossible-values",
            f"{int(wrong.sum())} of its {len(values)} values are no positive finite numbers, the "
            f"first is {values[at]:g}, iteration {at}.",
        )
    if len(values) < FEWEST_ITERATIONS:
        noun = "iteration" if len(values) == 1 else "iterations"
        return Caution(
            "too-few-iterations",
            f"it has {len(values)} {noun}; {FEWEST_ITERATIONS} are the fewest that show a "
            "steady state.",
        )
    if float(np.ptp(values)) == 0:
        return Caution(
            "constant",
            f"all {len(values)} values are {values[0]:g}: the clock does not resolve them.",
        )
    return None
