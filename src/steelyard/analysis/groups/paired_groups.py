"""Groups of rows that go together in blocks: each candidate against the baseline within blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import (
    chi_squared_upper_p,
    t_quantile,
    t_two_sided_p,
)
from steelyard.analysis.groups.independent_groups import GroupsQuestion, corrected_by_measure
from steelyard.analysis.groups.rank_sum import midranks
from steelyard.analysis.groups.signed_rank import pseudo_median, wilcoxon
from steelyard.analysis.intervals.fieller import paired_fieller
from steelyard.analysis.linear.diagnostics import LEVEL, residual_normality
from steelyard.analysis.linear.table_factor import Factor
from steelyard.analysis.tables.table_analysis import Analysis, Assumption, Effect, Test
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate, Interval, Unbounded
from steelyard.core.experiment_results import Caution

Floats = NDArray[np.float64]

METHOD = "paired"
_CENTRAL_COUNT = 30


def cells(rows: Factor, columns: Factor, values: Floats) -> tuple[Floats, int]:
    """The mean of the values of each pair of levels, rows with a cell of each column alone.

    Returns
    -------
    array, int
        Rows x columns, and how many rows lack a cell and are left out.
    """
    width = len(columns.levels)
    key = rows.codes * width + columns.codes
    size = len(rows.levels) * width
    counts = np.bincount(key, minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (np.bincount(key, values, minlength=size) / counts).reshape(-1, width)
    whole = np.isfinite(means).all(axis=1)
    return means[whole], int((~whole).sum())


def paired_groups(
    factor: Factor, block: Factor, response: str, unit: str, values: Floats, asked: GroupsQuestion
) -> Analysis:
    """Compare levels of a factor within blocks; several rows of one cell count by their mean.

    Raises
    ------
    AnalysisError
        One level only, or no block with all levels.
    """
    if len(factor.levels) < 2:
        raise AnalysisError(
            f"The factor {factor.name!r} has one level; a comparison takes two.", field="--factors"
        )
    table, incomplete = cells(block, factor, values)
    if not len(table):
        raise AnalysisError(
            f"No level of {block.name!r} has a value at each level of {factor.name!r}.",
            field="--option block",
        )
    effects: list[Effect] = []
    tests: list[Test] = []
    for candidate in range(1, len(factor.levels)):
        found, tested = _pair(factor, candidate, table, unit, asked.confidence)
        effects += found
        tests += tested
    several = friedman(table)
    alone = tests if len(factor.levels) == 2 else []
    return Analysis(
        method=METHOD,
        response=response,
        unit=unit,
        count=len(values),
        effects=tuple(corrected_by_measure(effects, asked.correction)),
        tests=tuple(alone) if several is None else (several, *alone),
        assumptions=(_normal(table),),
        cautions=tuple(_cautions(block, len(table), incomplete)),
        facts={"blocks": float(len(table))},
    )


def _pair(
    factor: Factor, candidate: int, table: Floats, unit: str, confidence: float
) -> tuple[list[Effect], list[Test]]:
    x, y = table[:, 0], table[:, candidate]
    differences = y - x
    term = f"{factor.levels[candidate]} - {factor.levels[0]}"
    over = f"{factor.levels[candidate]} / {factor.levels[0]}"
    interval, t_test = _paired_t(differences, confidence)
    rank_test = wilcoxon(differences)
    ratio = paired_fieller(x.tolist(), y.tolist(), confidence)
    effects = [
        Effect(over, ratio, "ratio-of-means"),
        Effect(term, interval, "difference-of-means", unit, p=None if t_test is None else t_test.p),
        Effect(term, pseudo_median(differences, confidence), "pseudo-median", unit, p=rank_test.p),
    ]
    return effects, [test for test in (t_test, rank_test) if test is not None]


def _paired_t(differences: Floats, confidence: float) -> tuple[Interval, Test | None]:
    count, mean = len(differences), float(differences.mean())
    if count < 2:
        return Unbounded(
            mean, confidence, "student-pairs", "one-value", "One block says nothing of variation."
        ), None
    error = float(differences.std(ddof=1)) / count**0.5
    degrees = float(count - 1)
    half = t_quantile(0.5 + confidence / 2, degrees) * error
    interval = Estimate(mean, mean - half, mean + half, confidence, "student-pairs")
    if error == 0:
        return interval, None
    return interval, Test(
        "paired t", mean / error, (degrees,), t_two_sided_p(mean / error, degrees)
    )


def friedman(table: Floats) -> Test | None:
    """Whether some levels tend to be larger within blocks (Friedman, J. Amer. Statist. Assoc. 32
    (1937) 675), corrected for ties; None for two levels, where Wilcoxon's test says more."""
    count, width = table.shape
    if width < 3 or count < 2:
        return None
    ranked = [midranks(row) for row in table]
    ranks = np.array([found[0] for found in ranked])
    ties = sum(found[1] for found in ranked)
    sums = ranks.sum(axis=0)
    above = 12 * float(((sums - count * (width + 1) / 2) ** 2).sum())
    below = count * width * (width + 1) - ties / (width - 1)
    if below <= 0:
        return None
    statistic = above / below
    degrees = float(width - 1)
    return Test("Friedman", statistic, (degrees,), chi_squared_upper_p(statistic, degrees))


def _normal(table: Floats) -> Assumption:
    tests = [residual_normality(table[:, c] - table[:, 0]) for c in range(1, table.shape[1])]
    found = [test.p for test in tests if test is not None and test.p is not None]
    if not found:
        return Assumption("normal differences", None, None, "")
    p = min(1.0, len(found) * min(found))
    if p >= LEVEL:
        return Assumption("normal differences", True, p, "")
    if len(table) >= _CENTRAL_COUNT:
        advice = "With so many blocks intervals of means hold all the same."
    else:
        advice = "Read the rows pseudo-median, whose test takes no shape for granted."
    return Assumption("normal differences", False, p, advice)


def _cautions(block: Factor, count: int, incomplete: int) -> list[Caution]:
    found: list[Caution] = []
    if incomplete:
        found.append(
            Caution(
                "incomplete-blocks",
                f"{incomplete} of {count + incomplete} levels of {block.name!r} lack a value at "
                "some level and are left out.",
            )
        )
    if count == 1:
        found.append(Caution("one-replicate", "There is one block: nothing tells chance apart."))
    return found
