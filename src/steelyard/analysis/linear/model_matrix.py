"""The columns of a linear model at the distinct points of a design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.linear.table_factor import Factor
from steelyard.core.errors import AnalysisError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Coding = Literal["coded", "treatment"]

INTERCEPT = "(intercept)"
# A matrix of that size still takes seconds and a gigabyte at most.
MOST_COLUMNS = 2000
_SPARSEST_TABLE = 4


@dataclass(frozen=True)
class Covariate:
    """A column of numbers that enters the model as it is."""

    name: str
    values: Floats


@dataclass(frozen=True)
class Column:
    """One column of the model: its label, and the term (``A:B``) that it belongs to."""

    label: str
    term: str


@dataclass(frozen=True)
class ModelMatrix:
    """A model at the distinct points of a design.

    Rows that agree in all factors and covariates are one *point*; with categorical factors alone
    there are few, however many rows.

    Parameters
    ----------
    matrix : array, points x columns
    columns : tuple of Column
        The first is the intercept.
    point : array of int
        For each row of the table its point.
    counts : array of int
        Rows at each point.
    levels : array of int, points x factors
        The level of each factor at each point.
    possible_count : int or None
        How many combinations of levels there could be; None with covariates.
    """

    matrix: Floats
    columns: tuple[Column, ...]
    point: Integers
    counts: Integers
    levels: Integers
    possible_count: int | None

    def terms(self) -> list[str]:
        """The terms in their order, without the intercept."""
        return list(dict.fromkeys(column.term for column in self.columns[1:]))

    def columns_of(self, term: str) -> list[int]:
        """The indices of the columns of a term."""
        return [index for index, column in enumerate(self.columns) if column.term == term]


def terms_up_to(names: Sequence[str], order: int) -> list[tuple[str, ...]]:
    """Main effects, then interactions of two, and so on up to `order`."""
    return [
        term for size in range(1, min(order, len(names)) + 1) for term in combinations(names, size)
    ]


def model_matrix(
    factors: Sequence[Factor],
    covariates: Sequence[Covariate],
    order: int,
    coding: Coding,
) -> ModelMatrix:
    """The model of some factors with their interactions, and covariates without.

    Parameters
    ----------
    factors, covariates : sequence
        All of one length.
    order : int
        The most factors in one interaction.
    coding : str
        ``"coded"``: -1 for the low level, +1 for the high one, so that an effect is half the
        change, and the intercept the mean over all combinations. A factor of more levels has a
        column for each but the low one, which has -1 in all of them. ``"treatment"``: 0 for the
        low level, 1 for the column's own, so that an effect is the change from the baseline.

    Raises
    ------
    AnalysisError
        More columns than can be dealt with.
    """
    terms = terms_up_to([factor.name for factor in factors], order)
    sizes = {factor.name: len(factor.levels) - 1 for factor in factors}
    width = 1 + len(covariates) + sum(prod(sizes[name] for name in term) for term in terms)
    if width > MOST_COLUMNS:
        raise AnalysisError(
            f"The model has {width} columns; {MOST_COLUMNS} is the most. Leave out the higher "
            "interactions (--option interactions=2), or factors.",
            field="--factors",
        )
    point, levels, numbers = _points(factors, covariates)
    blocks = {
        factor.name: (table[levels[:, place]], labels)
        for place, factor in enumerate(factors)
        for table, labels in [factor_codes(factor, coding)]
    }
    matrix = [np.ones((len(levels), 1))]
    columns = [Column(INTERCEPT, INTERCEPT)]
    for place, covariate in enumerate(covariates):
        matrix.append(numbers[:, place : place + 1])
        columns.append(Column(covariate.name, covariate.name))
    for term in terms:
        block, labels = blocks[term[0]]
        for name in term[1:]:
            right, right_labels = blocks[name]
            block = (block[:, :, None] * right[:, None, :]).reshape(len(levels), -1)
            labels = [f"{a}:{b}" for a in labels for b in right_labels]
        matrix.append(block)
        columns += [Column(label, ":".join(term)) for label in labels]
    counts = np.bincount(point, minlength=len(levels)).astype(np.int64)
    possible = None if covariates else prod(len(factor.levels) for factor in factors)
    return ModelMatrix(
        np.concatenate(matrix, axis=1), tuple(columns), point, counts, levels, possible
    )


def _points(
    factors: Sequence[Factor], covariates: Sequence[Covariate]
) -> tuple[Integers, Integers, Floats]:
    """The point of each row; the levels and the covariates of each point."""
    row_count = len(factors[0].codes) if factors else len(covariates[0].values)
    key = np.zeros(row_count, dtype=np.int64)
    key_count = 1
    for factor in factors:
        key = key * len(factor.levels) + factor.codes
        key_count *= len(factor.levels)
        if key_count > _SPARSEST_TABLE * row_count:
            key, key_count = _renumbered(key)
    for covariate in covariates:
        values, place = np.unique(covariate.values, return_inverse=True)
        key = key * len(values) + place.reshape(-1)
        key, key_count = _renumbered(key)
    key, key_count = _renumbered(key)
    first = np.empty(key_count, dtype=np.int64)
    first[key[::-1]] = np.arange(row_count - 1, -1, -1)
    levels = [factor.codes[first] for factor in factors]
    numbers = [covariate.values[first] for covariate in covariates]
    return (
        key,
        np.stack(levels, axis=1) if levels else np.zeros((key_count, 0), dtype=np.int64),
        np.stack(numbers, axis=1) if numbers else np.zeros((key_count, 0)),
    )


def _renumbered(key: Integers) -> tuple[Integers, int]:
    """The same classes numbered from 0 without gaps, in the order of the old numbers."""
    limit = int(key.max()) + 1
    if limit > _SPARSEST_TABLE * len(key) + 1024:
        found, place = np.unique(key, return_inverse=True)
        return place.reshape(-1).astype(np.int64), len(found)
    ranks = np.cumsum(np.bincount(key, minlength=limit) > 0) - 1
    return ranks[key].astype(np.int64), int(ranks[-1]) + 1


def factor_codes(factor: Factor, coding: Coding) -> tuple[Floats, list[str]]:
    """The columns of a main effect: for each level its numbers, and the label of each column."""
    count = len(factor.levels)
    table = np.zeros((count, count - 1))
    table[np.arange(1, count), np.arange(count - 1)] = 1.0
    if coding == "coded":
        table[0] = -1.0
        if count == 2:
            return table, [factor.name]
    return table, [f"{factor.name}[{level}]" for level in factor.levels[1:]]
