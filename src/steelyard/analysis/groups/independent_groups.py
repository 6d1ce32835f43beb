"""Groups of rows that were made independently: every pair with its effect sizes, then tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.groups.dominance import cliffs_delta
from steelyard.analysis.groups.location_tests import (
    eta_squared,
    kruskal_wallis,
    mean_difference,
    one_way,
    welch_anova,
)
from steelyard.analysis.groups.rank_sum import hodges_lehmann, mann_whitney
from steelyard.analysis.groups.variance_ratio import variance_ratio
from steelyard.analysis.intervals.corrections import CORRECTIONS
from steelyard.analysis.intervals.fieller import unpaired_fieller
from steelyard.analysis.linear.diagnostics import LEVEL, residual_normality
from steelyard.analysis.linear.table_factor import Factor
from steelyard.analysis.tables.table_analysis import Analysis, Assumption, Effect, Test
from steelyard.analysis.tests.equal_variances import levene
from steelyard.core.errors import AnalysisError
from steelyard.core.experiment_results import Caution

Floats = NDArray[np.float64]

METHOD = "groups"
# From so many values a group on, the central limit carries the intervals of means.
_CENTRAL_COUNT = 30
_MOST_GROUPS = 200


@dataclass(frozen=True)
class GroupsQuestion:
    """What is asked of groups.

    Parameters
    ----------
    confidence : float
    equal : bool
        Take all groups to have one variance (Student's t) instead of one each (Welch's).
    every_pair : bool
        Compare each with each instead of each with the first.
    correction : str
        Of p values over the pairs, a name of ``CORRECTIONS``.
    """

    confidence: float = 0.95
    equal: bool = False
    every_pair: bool = False
    correction: str = "holm"


def independent_groups(
    factor: Factor, response: str, unit: str, values: Floats, question: GroupsQuestion
) -> Analysis:
    """Compare the levels of one factor.

    Raises
    ------
    AnalysisError
        Fewer than two groups, or so many that pairs are too many to look at.
    """
    if not 2 <= len(factor.levels) <= _MOST_GROUPS:
        raise AnalysisError(
            f"Groups are compared from 2 to {_MOST_GROUPS}; the factor {factor.name!r} has "
            f"{len(factor.levels)} levels with a value.",
            field="--factors",
        )
    groups = [values[factor.codes == code] for code in range(len(factor.levels))]
    last = len(groups) if question.every_pair else 1
    pairs = [(a, b) for a, b in combinations(range(len(groups)), 2) if a < last]
    effects: list[Effect] = []
    pair_tests: list[Test] = []
    for a, b in pairs:
        found, tests = _pair(factor, a, b, (groups[a], groups[b]), unit, question)
        effects += found
        pair_tests += tests
    overall = _overall_tests(values, factor, question.equal)
    share = next((t for t in overall if t.name == "F"), None)
    if share is not None:
        whole = Effect(
            factor.name, eta_squared(share, question.confidence), "share-of-variance",
            degrees=len(groups) - 1, p=share.p,
        )  # fmt: skip
        effects.insert(0, whole)
    return Analysis(
        method=METHOD,
        response=response,
        unit=unit,
        count=len(values),
        effects=tuple(corrected_by_measure(effects, question.correction)),
        tests=(*overall, *(pair_tests if len(pairs) == 1 else ())),
        assumptions=_assumptions(groups, values, factor, question),
        cautions=tuple(_cautions(groups, factor)),
    )


def _pair(
    factor: Factor,
    a: int,
    b: int,
    groups: tuple[Floats, Floats],
    unit: str,
    question: GroupsQuestion,
) -> tuple[list[Effect], list[Test]]:
    baseline, candidate = groups
    confidence = question.confidence
    term = f"{factor.levels[b]} - {factor.levels[a]}"
    over = f"{factor.levels[b]} / {factor.levels[a]}"
    difference, t_test = mean_difference(baseline, candidate, confidence, question.equal)
    rank_test = mann_whitney(baseline, candidate)
    spread, f_test = variance_ratio(baseline, candidate, confidence)
    ratio = unpaired_fieller(baseline.tolist(), candidate.tolist(), confidence)
    shift = hodges_lehmann(baseline, candidate, confidence)
    dominance = cliffs_delta(baseline, candidate, confidence)
    effects = [
        Effect(over, ratio, "ratio-of-means"),
        Effect(term, difference, "difference-of-means", unit, p=_p(t_test)),
        Effect(term, shift, "hodges-lehmann", unit, p=rank_test.p),
        Effect(term, dominance, "cliffs-delta"),
        Effect(over, spread, "ratio-of-variances", p=_p(f_test)),
    ]
    return effects, [test for test in (t_test, rank_test, f_test) if test is not None]


def _p(test: Test | None) -> float | None:
    return None if test is None else test.p


def corrected_by_measure(effects: Sequence[Effect], correction: str) -> list[Effect]:
    """P values corrected over the pairs, each measure being a family of its own."""
    found = list(effects)
    for measure in {effect.measure for effect in effects}:
        places = [i for i, e in enumerate(found) if e.measure == measure and e.p is not None]
        adjusted = CORRECTIONS[correction]([found[i].p or 0.0 for i in places])
        for place, p in zip(places, adjusted, strict=True):
            found[place] = replace(found[place], adjusted_p=p)
    return found


def _overall_tests(values: Floats, factor: Factor, equal: bool) -> list[Test]:
    tests = [
        one_way(values, factor.codes),
        None if equal else welch_anova(values, factor.codes),
        kruskal_wallis(values, factor.codes),
        levene(values, factor.codes, "mean"),
        levene(values, factor.codes, "median"),
    ]
    return [test for test in tests if test is not None]


def _assumptions(
    groups: Sequence[Floats], values: Floats, factor: Factor, question: GroupsQuestion
) -> tuple[Assumption, ...]:
    tests = [residual_normality(group) for group in groups]
    found = [test.p for test in tests if test is not None and test.p is not None]
    normal_p = min(1.0, len(found) * min(found)) if found else None
    normal = None if normal_p is None else normal_p >= LEVEL
    many = min(map(len, groups)) >= _CENTRAL_COUNT
    spread = levene(values, factor.codes, "median")
    alike = None if spread is None or spread.p is None else spread.p >= LEVEL
    shape = (
        "With so many values intervals of means hold all the same. The variances' F test does "
        "not: believe Brown and Forsythe's."
        if many
        else "Read the rows hodges-lehmann and cliffs-delta, which take no shape for granted, and "
        "Brown and Forsythe's test of variances; the ratio and difference of means may mislead."
    )
    unequal = (
        "Student's t takes variances to be alike: leave `--option variance=equal` out."
        if question.equal
        else "Welch's interval, shown here, allows for it; hodges-lehmann is then a median "
        "difference and no longer a shift."
    )
    return (
        Assumption("normal groups", normal, normal_p, shape if normal is False else ""),
        Assumption(
            "equal variances",
            alike,
            None if spread is None else spread.p,
            unequal if alike is False else "",
        ),
    )


def _cautions(groups: Sequence[Floats], factor: Factor) -> list[Caution]:
    single = [f for f, g in zip(factor.levels, groups, strict=True) if len(g) == 1]
    found: list[Caution] = []
    if single:
        found.append(
            Caution(
                "one-replicate",
                f"{', '.join(map(repr, single[:5]))}: one value each, of which nothing can be said "
                "but that value.",
            )
        )
    if all(np.ptp(group) == 0 for group in groups):
        found.append(Caution("constant-response", "No group varies within itself."))
    return found
