"""Within-subject (repeated-measures) analysis of variance: every program under every condition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations, product
from math import log

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import (
    chi_squared_upper_p,
    f_upper_p,
    t_quantile,
    t_two_sided_p,
)
from steelyard.analysis.groups.independent_groups import corrected_by_measure
from steelyard.analysis.groups.paired_groups import cells
from steelyard.analysis.linear.diagnostics import LEVEL, residual_normality
from steelyard.analysis.linear.table_factor import Factor
from steelyard.analysis.tables.table_analysis import Analysis, Assumption, Effect, Source, Test
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate, Interval, Unbounded
from steelyard.core.experiment_results import Caution

Floats = NDArray[np.float64]

METHOD = "within"
_FEW_SUBJECTS = 5


def within_subject(
    subject: Factor,
    factors: Sequence[Factor],
    response: str,
    unit: str,
    values: Floats,
    confidence: float,
) -> Analysis:
    """Compare conditions that every subject was measured under.

    Parameters
    ----------
    subject : Factor
        What was measured again and again: a program of a suite.
    factors : sequence of Factor
        Conditions; a subject without a value at any combination is left out. Several values of
        one combination count by their mean.
    response, unit : str
    values : array
    confidence : float

    Raises
    ------
    AnalysisError
        A factor with one level, or fewer than two whole subjects.

    Notes
    -----
    Each term is tested against its own interaction with subjects, by orthonormal contrasts of
    each subject's values. P values are corrected for unequal variances of the contrasts by
    Greenhouse and Geisser's epsilon (Psychometrika 24 (1959) 95).
    """
    for factor in factors:
        if len(factor.levels) < 2:
            raise AnalysisError(
                f"The factor {factor.name!r} has one level; nothing differs by it.",
                field="--factors",
            )
    table, incomplete = cells(subject, _combined(factors), values)
    if len(table) < 2:
        raise AnalysisError(
            f"{len(table)} of {len(subject.levels)} levels of {subject.name!r} have a value at "
            "every combination of the factors; two are the least.",
            field="--option subject",
        )
    sources: list[Source] = []
    tests: list[Test] = []
    sphericity: list[float] = []
    for term in _terms(factors):
        source, error, extra = _tested(table, factors, term)
        sources += [source, error]
        tests += extra
        sphericity += [t.p for t in extra if t.name.startswith("Mauchly") and t.p is not None]
    effects = [e for f in factors for e in _effects(table, factors, f, unit, confidence)]
    return Analysis(
        method=METHOD,
        response=response,
        unit=unit,
        count=len(values),
        effects=tuple(corrected_by_measure(effects, "holm")),
        sources=(_subjects(table), *sources),
        tests=tuple(tests),
        assumptions=(_normal(table), _spherical(sphericity)),
        cautions=tuple(_cautions(subject, len(table), incomplete)),
        facts={"subjects": float(len(table))},
    )


def _combined(factors: Sequence[Factor]) -> Factor:
    """One factor whose levels are the combinations, the last factor changing fastest."""
    codes = np.zeros(len(factors[0].codes), dtype=np.int64)
    for factor in factors:
        codes = codes * len(factor.levels) + factor.codes
    names = [":".join(levels) for levels in product(*(factor.levels for factor in factors))]
    return Factor(":".join(factor.name for factor in factors), tuple(names), codes)


def _terms(factors: Sequence[Factor]) -> Iterator[tuple[int, ...]]:
    for size in range(1, len(factors) + 1):
        yield from combinations(range(len(factors)), size)


def _helmert(count: int) -> Floats:
    """Orthonormal contrasts of so many levels, as columns."""
    contrasts = np.zeros((count, count - 1))
    for column in range(count - 1):
        contrasts[: column + 1, column] = -1.0
        contrasts[column + 1, column] = column + 1.0
    return contrasts / np.sqrt((contrasts**2).sum(axis=0))


def _contrasts(factors: Sequence[Factor], term: tuple[int, ...]) -> Floats:
    parts = [
        _helmert(len(factor.levels))
        if place in term
        else np.full((len(factor.levels), 1), len(factor.levels) ** -0.5)
        for place, factor in enumerate(factors)
    ]
    return np.asarray(reduce(np.kron, parts), dtype=np.float64)


def _tested(
    table: Floats, factors: Sequence[Factor], term: tuple[int, ...]
) -> tuple[Source, Source, list[Test]]:
    """The term, the error it is tested against, and the tests of sphericity."""
    name = ":".join(factors[place].name for place in term)
    scores = table @ _contrasts(factors, term)
    count, degrees = scores.shape
    means = scores.mean(axis=0)
    deviations = scores - means
    squares = count * float(means @ means)
    error = float((deviations**2).sum())
    error_degrees = degrees * (count - 1)
    share = squares / (squares + error) if squares + error > 0 else None
    mean_square = squares / degrees
    if error <= 0:
        source = Source(
            name, degrees, squares, mean_square, None, None, share, "partial eta squared"
        )
        return source, Source(f"{name} error", error_degrees, 0.0, 0.0), []
    statistic = mean_square / (error / error_degrees)
    covariance = deviations.T @ deviations / (count - 1)
    epsilon = float(np.trace(covariance) ** 2 / (degrees * (covariance**2).sum()))
    p = f_upper_p(statistic, epsilon * degrees, epsilon * error_degrees)
    source = Source(name, degrees, squares, mean_square, statistic, p, share, "partial eta squared")
    tests = [
        Test(
            f"F: {name}", statistic, (float(degrees), float(error_degrees)),
            f_upper_p(statistic, degrees, error_degrees),
        )
    ]  # fmt: skip
    if degrees > 1:
        tests += _sphericity_tests(name, statistic, covariance, (count, degrees, epsilon))
    left = Source(f"{name} error", error_degrees, error, error / error_degrees)
    return source, left, tests


def _sphericity_tests(
    name: str, statistic: float, covariance: Floats, place: tuple[int, int, float]
) -> list[Test]:
    """The F tests corrected by both epsilons, and Mauchly's test of whether it takes them."""
    count, degrees, epsilon = place
    huynh = min(
        1.0, (count * degrees * epsilon - 2) / (degrees * max(1e-9, count - 1 - degrees * epsilon))
    )
    if huynh <= 0:
        huynh = 1.0
    error_degrees = degrees * (count - 1)
    found = [
        Test(
            f"F: {name}, {label}", statistic, (factor * degrees, factor * error_degrees),
            f_upper_p(statistic, factor * degrees, factor * error_degrees),
        )
        for label, factor in (("Greenhouse-Geisser", epsilon), ("Huynh-Feldt", huynh))
    ]  # fmt: skip
    sign, logarithm = np.linalg.slogdet(covariance)
    if count - 1 < degrees or sign <= 0:
        return found
    w = logarithm - degrees * log(float(np.trace(covariance)) / degrees)
    factor = count - 1 - (2 * degrees**2 + degrees + 2) / (6 * degrees)
    freedom = degrees * (degrees + 1) / 2 - 1
    p = chi_squared_upper_p(-factor * w, freedom)
    return [*found, Test(f"Mauchly: {name}", float(np.exp(w)), (freedom,), p)]


def _effects(
    table: Floats, factors: Sequence[Factor], factor: Factor, unit: str, confidence: float
) -> Iterator[Effect]:
    """Each level against the first, over subjects: as a difference, and as a ratio on the scale
    of logarithms, where programs of any length count alike."""
    shape = [len(f.levels) for f in factors]
    axis = 1 + [f.name for f in factors].index(factor.name)
    others = tuple(a for a in range(1, len(shape) + 1) if a != axis)
    whole = table.reshape(len(table), *shape)
    means = whole.mean(axis=others)
    positive = bool((table > 0).all())
    logs = np.log(whole).mean(axis=others) if positive else None
    for level in range(1, len(factor.levels)):
        high, low = factor.levels[level], factor.levels[0]
        if logs is not None:
            interval, p = _mean(logs[:, level] - logs[:, 0], confidence)
            yield Effect(
                f"{factor.name}: {high} / {low}", _exponential(interval), "geometric-ratio", p=p
            )
        interval, p = _mean(means[:, level] - means[:, 0], confidence)
        yield Effect(f"{factor.name}: {high} - {low}", interval, "mean-difference", unit, p=p)


def _mean(values: Floats, confidence: float) -> tuple[Estimate, float | None]:
    mean, degrees = float(values.mean()), float(len(values) - 1)
    error = float(values.std(ddof=1)) / len(values) ** 0.5
    half = t_quantile(0.5 + confidence / 2, degrees) * error
    p = t_two_sided_p(mean / error, degrees) if error > 0 else None
    return Estimate(mean, mean - half, mean + half, confidence, "student-subjects"), p


def _exponential(interval: Estimate) -> Interval:
    bounds = np.exp([interval.estimate, interval.low, interval.high])
    if not bool(np.isfinite(bounds).all()):
        return Unbounded(
            None, interval.confidence, interval.method, "overflow", "The ratio is beyond numbers."
        )
    value, low, high = map(float, bounds)
    return Estimate(value, low, high, interval.confidence, "student-log-subjects")


def _subjects(table: Floats) -> Source:
    count, width = table.shape
    means = table.mean(axis=1)
    squares = width * float(((means - means.mean()) ** 2).sum())
    return Source("subjects", count - 1, squares, squares / (count - 1))


def _normal(table: Floats) -> Assumption:
    """What is left after subjects and conditions."""
    left = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    test = residual_normality(left.ravel())
    if test is None or test.p is None:
        return Assumption("normal residuals", None, None, "")
    holds = test.p >= LEVEL
    advice = (
        "Programs of very different lengths are better compared on the scale of logarithms: read "
        "the rows geometric-ratio, or give `--option transform=log`."
    )
    return Assumption("normal residuals", holds, test.p, "" if holds else advice)


def _spherical(p_values: Sequence[float]) -> Assumption:
    if not p_values:
        return Assumption("sphericity", None, None, "")
    p = min(1.0, len(p_values) * min(p_values))
    holds = p >= LEVEL
    advice = "The analysis of variance shows p values with Greenhouse and Geisser's correction."
    return Assumption("sphericity", holds, p, "" if holds else advice)


def _cautions(subject: Factor, count: int, incomplete: int) -> Iterator[Caution]:
    if incomplete:
        yield Caution(
            "missing-cells",
            f"{incomplete} of {count + incomplete} levels of {subject.name!r} lack a value at some "
            "combination and are left out.",
        )
    if count < _FEW_SUBJECTS:
        yield Caution(
            "few-subjects", f"{count} subjects are few to speak of all that are like them."
        )
