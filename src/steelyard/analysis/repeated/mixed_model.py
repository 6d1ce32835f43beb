"""Fixed factors with nested repetition: builds, executions and iterations vary of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import (
    f_upper_p,
    t_quantile,
    t_two_sided_p,
)
from steelyard.analysis.intervals.corrections import holm
from steelyard.analysis.linear.diagnostics import LEVEL, residual_normality
from steelyard.analysis.linear.effects import aliased, aliases_of
from steelyard.analysis.linear.model_matrix import INTERCEPT, ModelMatrix
from steelyard.analysis.linear.orthogonal import Orthogonal, orthogonalised
from steelyard.analysis.linear.table_factor import Factor
from steelyard.analysis.repeated.nested_likelihood import NestedLikelihood
from steelyard.analysis.repeated.satterthwaite import Satterthwaite
from steelyard.analysis.tables.table_analysis import Analysis, Assumption, Effect, Source
from steelyard.analysis.variance.nelder_mead import simplex_minimum
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_results import Caution

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

METHOD = "mixed"
_FEW_UNITS = 5
# Where to begin: every level varies half as much as rows do within the lowest.
_FIRST_RATIO = 0.5


def mixed_model(
    model: ModelMatrix,
    levels: Sequence[Factor],
    response: str,
    unit: str,
    values: Floats,
    confidence: float,
) -> Analysis:
    """Explain a response by factors when rows lie in nested units.

    Parameters
    ----------
    model : ModelMatrix
        Of the fixed factors, coded.
    levels : sequence of Factor
        The repetition levels above the rows, highest first. A label holds within its unit above.
    response, unit : str
    values : array
    confidence : float

    Raises
    ------
    AnalysisError
        A level whose units hold one row each: it is the rows themselves.

    Notes
    -----
    Restricted maximum likelihood (Patterson and Thompson, Biometrika 58 (1971) 545); degrees of
    freedom by Satterthwaite's approximation. As lme4 and lmerTest.
    """
    parents = nested_parents(levels, len(values))
    columns = orthogonalised(model.matrix * np.sqrt(model.counts)[:, None])
    matrix = model.matrix[model.point][:, list(columns.kept)]
    # In units of the response's spread, so that no step of the search depends on the unit.
    scale = float(values.std()) or 1.0
    likelihood = NestedLikelihood(matrix, (values - values.mean()) / scale, parents)
    if likelihood.count <= likelihood.width:
        raise AnalysisError(
            "The model has as many terms as rows, so that nothing is left to vary.",
            field="--factors",
        )
    ratios = _likeliest(likelihood, len(levels))
    solved = likelihood.solve(ratios)
    deviation = (solved.squares / (likelihood.count - likelihood.width)) ** 0.5
    if np.ptp(values) == 0 or deviation <= 0:
        raise AnalysisError(
            f"The response {response!r} does not vary within units: there is no error to tell "
            "effects from.",
            field="--response",
        )
    freedom = Satterthwaite(likelihood, ratios, deviation)
    coefficients = solved.coefficients * scale
    coefficients[0] += float(values.mean())
    effects = _effects(model, columns, coefficients, freedom, scale, (confidence, unit))
    components = (*(r * r for r in reversed(ratios.tolist())), 1.0)
    names = [*(factor.name for factor in levels), "residual"]
    total = sum(components)
    facts: dict[str, float | str] = {}
    for name, component in zip(names, components, strict=True):
        facts[f"variance_{name}"] = component * (deviation * scale) ** 2
        facts[f"share_{name}"] = component / total
    return Analysis(
        method=METHOD,
        response=response,
        unit=unit,
        count=len(values),
        effects=effects,
        sources=tuple(_sources(model, columns, solved.coefficients, freedom)),
        assumptions=_assumptions(matrix @ solved.coefficients, values, scale, parents),
        cautions=tuple(_cautions(levels, parents, ratios)),
        facts=facts,
    )


def nested_parents(levels: Sequence[Factor], row_count: int) -> list[Integers]:
    """The unit of each row at the lowest level, then the unit above of each unit."""
    unit = np.zeros(row_count, dtype=np.int64)
    units: list[Integers] = []
    for factor in levels:
        key = unit * len(factor.levels) + factor.codes
        unit = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
        units.append(unit)
    if int(units[-1].max()) + 1 == row_count:
        raise AnalysisError(
            f"Every row is a {levels[-1].name!r} of its own, so that it cannot be told from what "
            "varies within it. Leave it out of --option levels.",
            field="--option levels",
        )
    parents = [units[-1]]
    for lower, upper in zip(reversed(units[1:]), reversed(units[:-1]), strict=True):
        above = np.zeros(int(lower.max()) + 1, dtype=np.int64)
        above[lower] = upper
        parents.append(above)
    return parents


def _likeliest(likelihood: NestedLikelihood, level_count: int) -> Floats:
    """The ratios, searched from two sides of what is plausible."""
    starts = (np.full(level_count, _FIRST_RATIO), np.full(level_count, 3.0))
    found = [simplex_minimum(likelihood.profiled, start) for start in starts]
    best = np.abs(min(found, key=likelihood.profiled))
    for place in range(level_count):
        without = best.copy()
        without[place] = 0.0
        if likelihood.profiled(without) <= likelihood.profiled(best) + 1e-9:
            best = without
    return best


def _effects(
    model: ModelMatrix,
    columns: Orthogonal,
    coefficients: Floats,
    freedom: Satterthwaite,
    scale: float,
    shown: tuple[float, str],
) -> tuple[Effect, ...]:
    confidence, unit = shown
    kept_aliases, dropped = aliases_of(model, columns)
    found: list[Effect] = []
    for place, column in enumerate(columns.kept):
        label = model.columns[column].label
        contrast = np.zeros(len(columns.kept))
        contrast[place] = 1.0
        degrees = freedom.degrees(contrast)
        error = float(freedom.covariance[place, place]) ** 0.5 * scale
        value = float(coefficients[place])
        half = t_quantile(0.5 + confidence / 2, degrees) * error
        found.append(
            Effect(
                term=label,
                effect=Estimate(
                    value, value - half, value + half, confidence, "satterthwaite-reml"
                ),
                unit=unit,
                degrees=None if label == INTERCEPT else 1,
                p=None if label == INTERCEPT else t_two_sided_p(value / error, degrees),
                aliases=tuple(kept_aliases.get(column, ())),
            )
        )
    adjusted = iter(holm([effect.p for effect in found if effect.p is not None]))
    found = [e if e.p is None else replace(e, adjusted_p=next(adjusted)) for e in found]
    labels = model.columns
    return (*found, *(aliased(labels[c].label, dropped[c], confidence) for c in dropped))


def _sources(
    model: ModelMatrix, columns: Orthogonal, coefficients: Floats, freedom: Satterthwaite
) -> list[Source]:
    """F tests of the terms (Fai and Cornelius, J. Statist. Comput. Simul. 54 (1996) 363); their
    sums of squares are those that the F statistics have in units of the residual variance."""
    place_of = {column: place for place, column in enumerate(columns.kept)}
    found: list[Source] = []
    for term in model.terms():
        places = [place_of[c] for c in model.columns_of(term) if c in place_of]
        if not places:
            continue
        covariance = freedom.covariance[np.ix_(places, places)]
        values, vectors = np.linalg.eigh(covariance)
        squares = (vectors.T @ coefficients[places]) ** 2 / values
        statistic = float(squares.mean())
        each: list[float] = []
        for vector in vectors.T:
            contrast = np.zeros(len(coefficients))
            contrast[places] = vector
            each.append(freedom.degrees(contrast))
        degrees = _joint(each)
        p = f_upper_p(statistic, len(places), degrees)
        found.append(Source(term, len(places), float(squares.sum()), None, statistic, p))
    return found


def _joint(each: Sequence[float]) -> float:
    """The denominator's degrees of several contrasts together."""
    if len(each) == 1:
        return each[0]
    parts = [
        degrees / (degrees - 2) if np.isfinite(degrees) else 1.0 for degrees in each if degrees > 2
    ]
    excess = sum(parts) - len(each)
    return 2 * sum(parts) / excess if len(parts) == len(each) and excess > 0 else min(each)


def _assumptions(
    fitted: Floats, values: Floats, scale: float, parents: Sequence[Integers]
) -> tuple[Assumption, ...]:
    """Of what varies within the lowest units."""
    residuals = (values - values.mean()) / scale - fitted
    counts = np.bincount(parents[0])
    residuals = residuals - (np.bincount(parents[0], residuals) / counts)[parents[0]]
    test = residual_normality(residuals[counts[parents[0]] > 1])
    top = int(parents[-1].max()) + 1
    units = Assumption(
        "enough units at the highest level",
        top >= _FEW_UNITS,
        None,
        f"There are {top}: how much they vary is hardly known. Repeat the highest level more."
        if top < _FEW_UNITS
        else "",
    )
    if test is None or test.p is None:
        return Assumption("normal residuals", None, None, ""), units
    holds = test.p >= LEVEL
    advice = (
        "Where the highest level is repeated often, intervals hold all the same; else use "
        "`--method quantile --option cluster=COLUMN`, or `--option transform=log`."
    )
    return Assumption("normal residuals", holds, test.p, "" if holds else advice), units


def _cautions(
    levels: Sequence[Factor], parents: Sequence[Integers], ratios: Floats
) -> list[Caution]:
    gone = [
        factor.name
        for factor, ratio in zip(levels, reversed(ratios.tolist()), strict=True)
        if ratio == 0
    ]
    if not gone:
        return []
    return [
        Caution(
            "no-variance",
            f"Nothing varies at {', '.join(map(repr, gone))} beyond what the levels below explain.",
        )
    ]
