"""What factors do to the mean of each program, and to how much programs vary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import t_quantile, t_two_sided_p
from steelyard.analysis.groups.location_tests import kruskal_wallis
from steelyard.analysis.intervals.corrections import holm
from steelyard.analysis.linear.linear_model import LinearQuestion, linear_model
from steelyard.analysis.linear.table_factor import Factor
from steelyard.analysis.tables.figure_values import MarkedViolin, ViolinFigure
from steelyard.analysis.tables.table_analysis import Analysis, Assumption, Effect, Test
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate, Interval, Unbounded
from steelyard.core.experiment_results import Caution

Floats = NDArray[np.float64]

METHOD = "programs"
_CHANGE = "change-of-mean"
_VARIATION = "ratio-of-variations"


def program_effects(
    program: Factor, factors: Sequence[Factor], response: str, values: Floats, confidence: float
) -> Analysis:
    """Effects in percent of each program's mean, and the coefficient of variation by level.

    Parameters
    ----------
    program : Factor
        Which program each row is of.
    factors : sequence of Factor
    response : str
    values : array
    confidence : float

    Raises
    ------
    AnalysisError
        A program has the mean 0, or nothing is varied.

    Notes
    -----
    Oliveira (2015), section 5.1.1: a linear model of main effects for each program; the change
    from a factor's first level to another is told in percent of the program's mean (twice his
    coefficient). The coefficient of variation is that within the points that have a level; whether
    levels differ in it is told by Kruskal and Wallis's test over programs, as he does, and by the
    ratio of the variations of the same program.
    """
    effects: list[Effect] = []
    for place, name in enumerate(program.levels):
        rows = program.codes == place
        own = [factor.rows(rows) for factor in factors]
        effects += changes_of_mean(name, own, response, values[rows], confidence)
    effects = _corrected(effects)
    tests: list[Test] = []
    ratios: list[Effect] = []
    violins: list[MarkedViolin] = []
    for factor in factors:
        table = _variations(program, factor, factors, values)
        tests += _variation_test(factor, table)
        ratios += _variation_ratios(factor, table, confidence)
        violins += [
            MarkedViolin(f"{factor.name}={level}", tuple((100 * column).tolist()))
            for level, column in zip(factor.levels, table.T, strict=True)
            if len(column)
        ]
    return Analysis(
        method=METHOD,
        response=response,
        unit="% of the mean",
        count=len(values),
        effects=(*ratios, *effects),
        tests=tuple(tests),
        assumptions=(_enough(program),),
        cautions=tuple(_cautions(program, ratios, factors)),
        figures=_figures(effects, factors, violins),
        conclusion=tuple(_sentences(effects, factors, confidence)),
    )


def changes_of_mean(
    name: str, factors: Sequence[Factor], response: str, values: Floats, confidence: float
) -> Iterator[Effect]:
    """What each factor does to one program, in percent of its mean, as `program_effects` says.

    Raises
    ------
    AnalysisError
        Its mean is 0, or nothing is varied.
    """
    mean = float(values.mean())
    if mean == 0:
        raise AnalysisError(
            f"The mean of {response!r} of {name} is 0, so that nothing is a percentage of it.",
            field="--response",
        )
    varied = [factor for factor in factors if len(factor.levels) > 1]
    if not varied:
        raise AnalysisError(f"Nothing is varied in the rows of {name}.", field="--factors")
    asked = LinearQuestion(order=1, coding="treatment", confidence=confidence)
    found = linear_model(varied, (), response, "", values, asked)
    for effect in found.effects[1:]:
        yield Effect(
            term=f"{name}: {effect.term}",
            effect=_scaled(effect.effect, 100 / mean),
            measure=_CHANGE,
            unit="%",
            p=effect.p,
        )


def _scaled(interval: Interval, factor: float) -> Interval:
    if isinstance(interval, Unbounded):
        value = interval.estimate
        return replace(interval, estimate=None if value is None else value * factor)
    ends = sorted((interval.low * factor, interval.high * factor))
    return replace(interval, estimate=interval.estimate * factor, low=ends[0], high=ends[1])


def _corrected(effects: Sequence[Effect]) -> list[Effect]:
    adjusted = iter(holm([effect.p for effect in effects if effect.p is not None]))
    return [e if e.p is None else replace(e, adjusted_p=next(adjusted)) for e in effects]


def _variations(
    program: Factor, factor: Factor, factors: Sequence[Factor], values: Floats
) -> Floats:
    """Coefficients of variation within points, programs x levels; programs that lack one are left
    out."""
    point = np.zeros(len(values), dtype=np.int64)
    for each in (program, *factors):
        point = point * len(each.levels) + each.codes
    _, point = np.unique(point, return_inverse=True)
    point = point.reshape(-1)
    counts = np.bincount(point)
    means = np.bincount(point, values) / counts
    squares = np.bincount(point, (values - means[point]) ** 2)
    table = np.full((len(program.levels), len(factor.levels)), np.nan)
    first = np.unique(point, return_index=True)[1]
    owner, level = program.codes[first], factor.codes[first]
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            here = (owner == row) & (level == column) & (counts > 1)
            if not here.any():
                continue
            variance = squares[here].sum() / (counts[here] - 1).sum()
            table[row, column] = variance**0.5 / abs(means[here].mean())
    return table[np.isfinite(table).all(axis=1)]


def _variation_test(factor: Factor, table: Floats) -> Iterator[Test]:
    rows, levels = len(table), len(factor.levels)
    found = kruskal_wallis(table.T.reshape(-1), np.arange(levels * rows) // max(1, rows))
    if rows > 1 and found is not None:
        yield replace(found, name=f"{found.name} of variations: {factor.name}")


def _variation_ratios(factor: Factor, table: Floats, confidence: float) -> Iterator[Effect]:
    """Geometric means of the ratio of a level's variation to that of the first."""
    if len(table) < 2 or bool((table <= 0).any()):
        return
    logs = np.log(table)
    for column in range(1, table.shape[1]):
        differences = logs[:, column] - logs[:, 0]
        centre, degrees = float(differences.mean()), len(differences) - 1
        error = float(differences.std(ddof=1)) / len(differences) ** 0.5
        half = t_quantile((1 + confidence) / 2, degrees) * error
        ratio, low, high = (float(np.exp(end)) for end in (centre, centre - half, centre + half))
        yield Effect(
            term=f"variation: {factor.name}[{factor.levels[column]}]",
            effect=Estimate(ratio, low, high, confidence, "student-log-programs"),
            measure=_VARIATION,
            p=t_two_sided_p(centre / error, degrees) if error > 0 else None,
        )


def _enough(program: Factor) -> Assumption:
    holds = len(program.levels) >= 5
    advice = "" if holds else "What holds for so few programs says little of others: take more."
    return Assumption("enough programs", holds, None, advice)


def _cautions(
    program: Factor, ratios: Sequence[Effect], factors: Sequence[Factor]
) -> Iterator[Caution]:
    if len(ratios) < sum(len(factor.levels) - 1 for factor in factors):
        yield Caution(
            "no-variations",
            "Variations cannot be compared for all factors: programs need two rows or more at "
            f"each combination, and a response that varies; there are {len(program.levels)} "
            "programs.",
        )


def _figures(
    effects: Sequence[Effect], factors: Sequence[Factor], variations: Sequence[MarkedViolin]
) -> tuple[ViolinFigure, ...]:
    changes = [
        MarkedViolin(factor.name, tuple(e.effect.estimate or 0.0 for e in of))
        for factor in factors
        if len(of := _of_factor(effects, factor)) > 1
    ]
    found = [
        ViolinFigure("Changes of the mean over programs", "% of the mean", tuple(changes), 0.0)
    ]
    found.append(ViolinFigure("Variation over programs", "CoV in %", tuple(variations)))
    return tuple(figure for figure in found if figure.violins)


def _of_factor(effects: Sequence[Effect], factor: Factor) -> list[Effect]:
    names = {factor.name, *(f"{factor.name}[{level}]" for level in factor.levels)}
    return [e for e in effects if e.measure == _CHANGE and e.term.rpartition(": ")[2] in names]


def _sentences(
    effects: Sequence[Effect], factors: Sequence[Factor], confidence: float
) -> Iterator[str]:
    for factor in factors:
        own = _of_factor(effects, factor)
        sizes = [abs(e.effect.estimate) for e in own if e.effect.estimate is not None]
        if not sizes:
            continue
        beyond = [
            e.term.rpartition(": ")[0]
            for e in own
            if e.adjusted_p is not None and e.adjusted_p < 1 - confidence
        ]
        names = f" ({', '.join(dict.fromkeys(beyond))})" if 0 < len(beyond) <= 5 else ""
        yield (
            f"{factor.name} changes the mean by {np.mean(sizes):.3g}% on average and "
            f"{max(sizes):.3g}% at the most; beyond chance for {len(beyond)} of {len(own)}"
            f"{names}."
        )
