"""A table with one row a trial, as response and factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.linear.model_matrix import Covariate
from steelyard.analysis.linear.table_factor import MISSING, Factor, factor_of, first_levels
from steelyard.analysis.tables.analysis_method import Question
from steelyard.analysis.tables.data_columns import Table
from steelyard.analysis.tables.table_analysis import Analysis
from steelyard.core.errors import AnalysisError
from steelyard.core.experiment_results import Caution

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Squares, and sums of a million of them, stay far inside what a double can hold.
_LARGEST = 1e100


@dataclass(frozen=True)
class Trials:
    """The rows that have a response, as arrays.

    Parameters
    ----------
    response : str
    values : array
        Finite, one a row.
    factors : tuple of Factor
    covariates : tuple of Covariate
    rows : array of int
        The index of each row in the table.
    cautions : tuple of Caution
        What was left out.
    """

    response: str
    values: Floats
    factors: tuple[Factor, ...]
    covariates: tuple[Covariate, ...]
    rows: NDArray[np.int64]
    cautions: tuple[Caution, ...]

    def factor(self, name: str) -> Factor:
        """One of the factors by its name."""
        return next(factor for factor in self.factors if factor.name == name)


def read_trials(
    table: Table,
    question: Question,
    groups: Sequence[str] = (),
    also: Mapping[str, str] | None = None,
) -> Trials:
    """The response and the factors that a question names.

    Parameters
    ----------
    table : Table
    question : Question
        ``extra`` may name ``covariates`` and, in ``low``, levels that come first.
    groups : sequence of str
        Further columns that say which rows belong together, with any number of levels; read as
        factors after those of the question.
    also : mapping of str to str
        Further columns of numbers that the analysis takes, each by the option that names it.

    Raises
    ------
    AnalysisError
        A column is missing or holds something else; no row is left.

    Notes
    -----
    One rule for every column that the question names: a row of which a cell is missing or infinite
    is left out and counted, as R's ``na.omit`` does.
    """
    response = question.response or ""
    values = table.numbers(response, "--response")
    names = question.factors
    covariate_names = [n.strip() for n in question.extra.get("covariates", "").split(",") if n]
    _check_names(response, [*names, *covariate_names])
    order = first_levels(question.extra.get("low", ""), names)
    factors = [factor_of(table, name, order.get(name, ())) for name in names]
    factors += [factor_of(table, name, (), None) for name in groups if name not in names]
    numbers = [(name, table.numbers(name, "--option covariates")) for name in covariate_names]
    there = {response: np.isfinite(values)}
    there |= {name: np.isfinite(column) for name, column in numbers}
    there |= {factor.name: factor.codes != MISSING for factor in factors}
    there |= {
        name: np.isfinite(table.numbers(name, option)) for name, option in (also or {}).items()
    }
    keep = np.logical_and.reduce(list(there.values()))
    if not bool(keep.any()):
        raise _no_row(table, there)
    _check_scale(response, values[keep])
    return Trials(
        response,
        values[keep],
        tuple(factor.rows(keep) for factor in factors),
        tuple(Covariate(name, column[keep]) for name, column in numbers),
        np.flatnonzero(keep).astype(np.int64),
        _left_out(table, factors, there, keep),
    )


def _no_row(table: Table, there: Mapping[str, Bools]) -> AnalysisError:
    empty = [name for name, cells in there.items() if not cells.any()]
    what = f"of {empty[0]!r}" if empty else f"in every one of {', '.join(map(repr, there))}"
    return AnalysisError(f"{table.source} has no row with a value {what}.", field="--response")


def _check_scale(response: str, values: Floats) -> None:
    """Refuse values whose squares are no numbers any more."""
    largest = float(np.abs(values).max())
    if largest > _LARGEST or 0 < largest < 1 / _LARGEST:
        raise AnalysisError(
            f"The values of {response!r} go up to {largest:g}; sums of their squares are beyond "
            "numbers. Give them in another unit.",
            field="--response",
        )


def _check_names(response: str, names: Sequence[str]) -> None:
    if not names:
        raise AnalysisError(
            "An analysis of trials takes --factors A,B,... (or --option covariates=X,Y).",
            field="--factors",
        )
    for name in names:
        if name == response or names.count(name) > 1:
            raise AnalysisError(
                f"The column {name!r} is named twice among response, factors and covariates.",
                field="--factors",
            )


def _left_out(
    table: Table, factors: Sequence[Factor], there: Mapping[str, Bools], keep: Bools
) -> tuple[Caution, ...]:
    """Rows without a value, by the columns that lack it, and levels that lost all of theirs."""
    lost = int((~keep).sum())
    if not lost:
        return ()
    gone = [
        f"{factor.name}={factor.levels[level]}"
        for factor in factors
        for level in sorted({*factor.codes.tolist()} - {*factor.codes[keep].tolist(), MISSING})
    ]
    counts = {name: int((~cells).sum()) for name, cells in there.items()}
    where = ", ".join(f"{count} of {name}" for name, count in counts.items() if count)
    text = (
        f"{lost} of {table.row_count} rows of {table.source} have no value and are left out "
        f"(missing or infinite: {where})."
    )
    if gone:
        text += f" Nothing is left of {', '.join(gone)}: it is not in the answer."
    return (Caution("missing-values", text),)


def with_cautions(found: Analysis, cautions: Sequence[Caution]) -> Analysis:
    """An analysis with further cautions, before its own."""
    return replace(found, cautions=(*cautions, *found.cautions)) if cautions else found


def whole_option(extra: Mapping[str, str], name: str, default: int, least: int) -> int:
    """A method's own option that is a whole number."""
    text = extra.get(name)
    if text is None:
        return max(default, least)
    if not text.isdigit() or int(text) < least:
        raise AnalysisError(
            f"--option {name} takes a whole number from {least} up; it got {text!r}.",
            field=f"--option {name}",
        )
    return int(text)


def number_option(extra: Mapping[str, str], name: str) -> float | None:
    """A method's own option that is a number; None where it is not given."""
    text = extra.get(name)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise AnalysisError(
            f"--option {name} takes a number; it got {text!r}.", field=f"--option {name}"
        )
    return value


def choice_option(extra: Mapping[str, str], name: str, choices: Sequence[str]) -> str:
    """A method's own option that is one of a few words; the first unless given."""
    text = extra.get(name, choices[0])
    if text not in choices:
        raise AnalysisError(
            f"--option {name} takes one of {', '.join(choices)}; it got {text!r}.",
            field=f"--option {name}",
        )
    return text
