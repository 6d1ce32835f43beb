"""Quantile regression of a factorial experiment: effects at any set of quantiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.intervals.corrections import holm
from steelyard.analysis.linear.diagnostics import LEVEL
from steelyard.analysis.linear.effects import aliased, aliases_of
from steelyard.analysis.linear.model_matrix import INTERCEPT, ModelMatrix
from steelyard.analysis.linear.orthogonal import orthogonalised
from steelyard.analysis.quantile.effect_intervals import Bounds, QuantileQuestion, bounds_of
from steelyard.analysis.quantile.many_rows import QuantileProblem
from steelyard.analysis.quantile.vertex import Vertex
from steelyard.analysis.tables.figure_values import QuantileFigure
from steelyard.analysis.tables.table_analysis import Analysis, Assumption, Effect
from steelyard.analysis.tests.equal_variances import levene
from steelyard.core.estimate import Estimate, Interval, Unbounded
from steelyard.core.experiment_results import Caution

Floats = NDArray[np.float64]

METHOD = "quantile"
# Rows beyond the quantile, for each coefficient, below which its interval is not to be trusted.
_ROWS_BEYOND = 5


def quantile_regression(
    model: ModelMatrix, response: str, unit: str, values: Floats, question: QuantileQuestion
) -> Analysis:
    """Explain quantiles of a response by the columns of a model.

    Parameters
    ----------
    model : ModelMatrix
    response, unit : str
    values : array
        One a row, finite.
    question : QuantileQuestion

    Notes
    -----
    Koenker and Bassett, Econometrica 46 (1978) 33; solved exactly. Assumes nothing of the shape
    of the distribution, and but for ``rank-iid`` nothing of its being alike in all rows.
    """
    columns = orthogonalised(model.matrix * np.sqrt(model.counts)[:, None])
    kept_aliases, dropped = aliases_of(model, columns)
    matrix = model.matrix[model.point][:, list(columns.kept)]
    problem = QuantileProblem(matrix, values)
    whole = model if len(columns.kept) == len(model.counts) == len(model.columns) else None
    unlike = levene(values, model.point, "median")
    if whole is not None and unlike is not None and (unlike.p or 0.0) < LEVEL:
        question = question.for_unlike_points(len(values))
    constant = bool(np.ptp(values) == 0)
    effects: list[Effect] = []
    facts: dict[str, float | str] = {}
    for quantile in question.quantiles:
        vertex = problem.solve(quantile)
        bounds = (
            [Bounds(None, None, None, "none")] * len(columns.kept)
            if constant
            else bounds_of(problem, vertex, quantile, question, whole)
        )
        here = [
            _effect(
                model.columns[column].label,
                float(vertex.coefficients[place]),
                bounds[place],
                (quantile, question.confidence, constant),
                unit,
                tuple(kept_aliases.get(column, ())),
            )
            for place, column in enumerate(columns.kept)
        ]
        effects += _corrected(here)
        facts[f"r1_{quantile:g}"] = _explained(values, matrix, vertex, quantile)
    labels = model.columns
    gone = [aliased(labels[c].label, dropped[c], question.confidence) for c in dropped]
    return Analysis(
        method=METHOD,
        response=response,
        unit=unit,
        count=len(values),
        effects=(*effects, *gone),
        assumptions=_assumptions(question, len(values), len(columns.kept)),
        cautions=tuple(_cautions(model, len(columns.dropped), constant)),
        figures=_figures(effects, question.quantiles),
        facts=facts,
        conclusion=tuple(_sentences(effects, unit, question.confidence)),
    )


def _sentences(effects: Sequence[Effect], unit: str, confidence: float) -> Iterator[str]:
    """For each term the quantiles that it has an effect on, and how large it is at their ends."""
    for term in dict.fromkeys(effect.term for effect in effects if effect.p is not None):
        here = [e for e in effects if e.term == term and e.quantile is not None]
        found = [e for e in here if (e.adjusted_p or 0.0) < 1 - confidence and e.p is not None]
        if not found:
            continue
        places = ", ".join(f"{e.quantile:g}" for e in found)
        first, last = found[0].effect.estimate or 0.0, found[-1].effect.estimate or 0.0
        size = f"{first:.4g}" if len(found) == 1 else f"{first:.4g} … {last:.4g}"
        where = "quantile" if len(found) == 1 else "quantiles"
        yield f"{term} matters at the {where} {places}: {size} {unit}".rstrip() + "."


def _effect(
    label: str,
    value: float,
    bounds: Bounds,
    place: tuple[float, float, bool],
    unit: str,
    aliases: tuple[str, ...],
) -> Effect:
    quantile, confidence, constant = place
    return Effect(
        term=label,
        effect=_interval(value, bounds, confidence, constant),
        unit=unit,
        p=None if label == INTERCEPT else bounds.p,
        quantile=quantile,
        aliases=aliases,
    )


def _interval(value: float, bounds: Bounds, confidence: float, constant: bool) -> Interval:
    if constant:
        return Unbounded(
            value, confidence, bounds.method, "constant-response",
            "The response has the same value in every row: nothing varies.",
        )  # fmt: skip
    if bounds.low is None or bounds.high is None:
        return Unbounded(
            value, confidence, bounds.method, "too-few-rows",
            "There are too few rows on one side of this quantile to bound the effect. More rows, "
            "fewer terms or a quantile nearer the middle mend it.",
        )  # fmt: skip
    low, high = min(bounds.low, value), max(bounds.high, value)
    return Estimate(value, low, high, confidence, bounds.method)


def _corrected(effects: Sequence[Effect]) -> list[Effect]:
    adjusted = iter(holm([e.p for e in effects if e.p is not None]))
    return [e if e.p is None else replace(e, adjusted_p=next(adjusted)) for e in effects]


def _explained(values: Floats, matrix: Floats, vertex: Vertex, quantile: float) -> float:
    """Koenker and Machado's R1: the share of the asymmetric distances from one quantile for all
    rows that the model takes off."""

    def distances(residuals: Floats) -> float:
        return float((residuals * (quantile - (residuals < 0))).sum())

    whole = distances(values - np.quantile(values, quantile, method="inverted_cdf"))
    left = distances(values - matrix @ vertex.coefficients)
    return max(0.0, 1.0 - left / whole) if whole > 0 else 0.0


def _assumptions(question: QuantileQuestion, count: int, width: int) -> tuple[Assumption, ...]:
    thin = [
        quantile
        for quantile in question.quantiles
        if count * min(quantile, 1 - quantile) < _ROWS_BEYOND * width
    ]
    shown = ", ".join(f"{quantile:g}" for quantile in thin)
    rows = Assumption(
        "enough rows beyond each quantile",
        not thin,
        None,
        f"At {shown} fewer than {_ROWS_BEYOND} rows for each of {width} effects lie beyond the "
        "quantile: these intervals are no better than rough. Measure more, or ask for quantiles "
        "nearer the middle."
        if thin
        else "",
    )
    if question.cluster is None:
        return rows, Assumption(
            "independent rows", None, None,
            "Where rows belong together, as iterations of one execution do, name what they belong "
            "to: `--option cluster=COLUMN`.",
        )  # fmt: skip
    few = int(question.cluster.max()) + 1 < 20
    return rows, Assumption(
        "enough clusters",
        not few,
        None,
        "Fewer than 20 clusters: their number is what the intervals rest on, and it is small."
        if few
        else "",
    )


def _cautions(model: ModelMatrix, dropped: int, constant: bool) -> list[Caution]:
    found: list[Caution] = []
    if constant:
        found.append(Caution("constant-response", "The response has the same value in every row."))
    if dropped:
        found.append(
            Caution(
                "aliased",
                f"{dropped} of {len(model.columns) - 1} effects cannot be told from others in "
                "this design. An effect is shown with all that it may belong to.",
            )
        )
    return found


def _figures(effects: Sequence[Effect], quantiles: tuple[float, ...]) -> tuple[QuantileFigure, ...]:
    if len(quantiles) < 2:
        return ()
    terms = tuple(dict.fromkeys(effect.term for effect in effects))
    by_term = [[e for e in effects if e.term == term] for term in terms]

    def bound(effect: Effect, name: str) -> float | None:
        return getattr(effect.effect, name) if isinstance(effect.effect, Estimate) else None

    order = sorted(range(len(quantiles)), key=quantiles.__getitem__)
    return (
        QuantileFigure(
            terms,
            tuple(quantiles[index] for index in order),
            tuple(tuple(row[i].effect.estimate or 0.0 for i in order) for row in by_term),
            tuple(tuple(bound(row[i], "low") for i in order) for row in by_term),
            tuple(tuple(bound(row[i], "high") for i in order) for row in by_term),
        ),
    )
