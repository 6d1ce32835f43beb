"""Means by level of a fitted factorial model, and how its levels are coded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import t_quantile
from steelyard.analysis.linear.design_least_squares import Fit
from steelyard.analysis.linear.effects import Spread
from steelyard.analysis.linear.model_matrix import Coding, Covariate, factor_codes
from steelyard.analysis.linear.table_factor import Factor
from steelyard.analysis.tables.table_analysis import FactorCoding, LevelCode, LevelMean, Source
from steelyard.core.estimate import Estimate, Interval, Unbounded

Floats = NDArray[np.float64]
# Of pairs of factors together: as many as anybody looks through.
_MOST_PAIR_MEANS = 1000


@dataclass(frozen=True)
class CodedFit:
    """A fit of a coded model with what its means take.

    Parameters
    ----------
    fit : Fit
        Of a model with ``"coded"`` levels.
    spread : Spread or None
    factors, covariates : sequence
    values : array
        The response of each row.
    """

    fit: Fit
    spread: Spread | None
    factors: Sequence[Factor]
    covariates: Sequence[Covariate]
    values: Floats


def codings_of(factors: Sequence[Factor], coding: Coding) -> tuple[FactorCoding, ...]:
    """The number that stands for each level in each column of its factor's main effect."""
    found: list[FactorCoding] = []
    for factor in factors:
        table, labels = factor_codes(factor, coding)
        levels = tuple(
            LevelCode(level, tuple(zip(labels, row, strict=True)))
            for level, row in zip(factor.levels, table.tolist(), strict=True)
        )
        found.append(FactorCoding(factor.name, levels))
    return tuple(found)


def level_means_of(
    coded: CodedFit, sources: Sequence[Source], confidence: float
) -> tuple[LevelMean, ...]:
    """The mean at each level of each factor, then of the pairs whose interaction is in the model.

    Parameters
    ----------
    coded : CodedFit
    sources : sequence of Source
        The analysis of variance, by which pairs are ordered.
    confidence : float

    Notes
    -----
    With coded levels the effects of a factor's levels add up to 0, so that all terms that hold
    another factor cancel in the mean over its levels; what is left is the intercept, the main
    effects and the interaction of the factors asked for, a linear combination of coefficients.
    """
    found = [mean for factor in coded.factors for mean in _means(coded, (factor,), confidence)]
    by_name = {factor.name: factor for factor in coded.factors}
    strength = {source.term: _strength(source) for source in sources}
    pairs = [(by_name[first], by_name[second]) for first, second in _pairs(coded.fit, by_name)]
    pairs.sort(key=lambda pair: strength.get(f"{pair[0].name}:{pair[1].name}", (2.0, 0.0)))
    left = _MOST_PAIR_MEANS
    for pair in pairs:
        left -= len(pair[0].levels) * len(pair[1].levels)
        if left < 0:
            break
        found += _means(coded, pair, confidence)
    return tuple(found)


def _pairs(fit: Fit, by_name: Mapping[str, Factor]) -> Iterator[tuple[str, str]]:
    terms = set(fit.model.terms())
    names = list(by_name)
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            if f"{first}:{second}" in terms:
                yield first, second


def _strength(source: Source) -> tuple[float, float]:
    """Sorts the strongest first: by p, without one by the sum of squares."""
    return (2.0 if source.p is None else source.p, -source.sum_squares)


def _means(coded: CodedFit, factors: tuple[Factor, ...], confidence: float) -> Iterator[LevelMean]:
    place_of = {c: place for place, c in enumerate(coded.fit.columns.kept)}
    columns = coded.fit.model.columns
    index = {column.label: number for number, column in enumerate(columns)}
    tables = [factor_codes(factor, "coded") for factor in factors]
    term = ":".join(factor.name for factor in factors)
    for codes in product(*(range(len(factor.levels)) for factor in factors)):
        weights = _weights(
            [(t[code], labels) for (t, labels), code in zip(tables, codes, strict=True)]
        )
        combination = np.zeros(coded.fit.rank)
        known = True
        for label, weight in (weights | _covariate_weights(coded)).items():
            if index[label] in place_of:
                combination[place_of[index[label]]] = weight
            elif weight:
                known = False
        here = np.logical_and.reduce(
            [factor.codes == code for factor, code in zip(factors, codes, strict=True)]
        )
        count = int(here.sum())
        levels = tuple(f.levels[code] for f, code in zip(factors, codes, strict=True))
        row_mean = float(coded.values[here].mean()) if count else None
        mean = _interval(coded, combination, confidence) if known else _aliased(confidence)
        yield LevelMean(term, levels, mean, row_mean, count)


def _weights(parts: Sequence[tuple[Floats, Sequence[str]]]) -> dict[str, float]:
    """The weight of the intercept, of each main effect, and of the interaction of all parts."""
    weights = {"(intercept)": 1.0}
    together = {"": 1.0}
    for codes, labels in parts:
        own = dict(zip(labels, codes.tolist(), strict=True))
        weights |= own
        together = {
            f"{a}:{b}" if a else b: x * y for a, x in together.items() for b, y in own.items()
        }
    return weights | together


def _covariate_weights(coded: CodedFit) -> dict[str, float]:
    return {covariate.name: float(covariate.values.mean()) for covariate in coded.covariates}


def _interval(coded: CodedFit, combination: Floats, confidence: float) -> Interval:
    value = float(combination @ coded.fit.coefficients)
    if coded.spread is None or coded.fit.total_squares <= 0:
        constant = coded.fit.total_squares <= 0
        return Unbounded(
            value, confidence, "student-ols",
            "constant-response" if constant else "no-error-degrees",
            "Nothing varies that would tell how well it is known.",
        )  # fmt: skip
    used = combination != 0
    degrees = float(coded.spread.degrees[used].min())
    error = max(0.0, float(combination @ coded.spread.covariance @ combination)) ** 0.5
    half = t_quantile(0.5 + confidence / 2, degrees) * error
    return Estimate(value, value - half, value + half, confidence, coded.spread.method)


def _aliased(confidence: float) -> Unbounded:
    return Unbounded(
        None, confidence, "student-ols", "aliased",
        "This design cannot tell the effects that make this mean from others.",
    )  # fmt: skip
