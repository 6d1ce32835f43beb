"""What an effect changes, as a share of the response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import expm1

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import t_quantile
from steelyard.analysis.intervals.fieller import MeanPair, fieller_interval
from steelyard.analysis.linear.design_least_squares import Fit
from steelyard.analysis.linear.effects import Spread
from steelyard.analysis.linear.model_matrix import Coding, Covariate
from steelyard.analysis.linear.table_factor import Factor
from steelyard.core.estimate import Estimate, Interval, Unbounded

Floats = NDArray[np.float64]
METHOD = "fieller-coefficients"
# Beyond that e^x is no number of a size that a response can change by.
_LARGEST_LOG = 300.0


@dataclass(frozen=True)
class Changed:
    """A fit with what the changes of its effects take."""

    fit: Fit
    spread: Spread | None
    factors: Sequence[Factor]
    covariates: Sequence[Covariate]
    coding: Coding


def relative_changes(changed: Changed, confidence: float) -> Mapping[str, Interval]:
    """For the label of each column the change that its effect makes, relative to the response.

    Parameters
    ----------
    changed : Changed
    confidence : float

    Returns
    -------
    mapping of str to Interval
        With coded levels twice the effect, for terms whose factors have two levels each, over the
        mean of all combinations; with treatment coding the effect over the response at the first
        levels; covariates are at their means. Empty where nothing varies or that response is not
        positive.

    Notes
    -----
    A ratio of two coefficients, by Fieller's theorem with their covariance and the smaller number
    of their degrees of freedom.
    """
    fit, spread = changed.fit, changed.spread
    steps = _steps(changed)
    base = _base(changed)
    level = float(base @ fit.coefficients)
    if fit.total_squares <= 0 or level <= 0:
        return {}
    found: dict[str, Interval] = {}
    for place, column in enumerate(fit.columns.kept):
        label = fit.model.columns[column].label
        if label not in steps:
            continue
        value = steps[label] * float(fit.coefficients[place])
        if spread is None:
            found[label] = _unbounded(value / level, confidence)
            continue
        covariance = spread.covariance
        pair = MeanPair(
            level,
            value,
            float(base @ covariance @ base),
            steps[label] * float(base @ covariance[:, place]),
            steps[label] ** 2 * float(covariance[place, place]),
        )
        degrees = min(float(spread.degrees[0]), float(spread.degrees[place]))
        quantile = t_quantile(0.5 + confidence / 2, degrees)
        found[label] = fieller_interval(pair, quantile, confidence, METHOD)
    return found


def changes_of_logarithms(
    changed: Changed, effects: Mapping[str, Interval]
) -> Mapping[str, Interval]:
    """The same where the logarithm of the response is explained: e to the difference, less 1."""
    found: dict[str, Interval] = {}
    for label, step in _steps(changed).items():
        effect = effects.get(label)
        if effect is None or effect.estimate is None or changed.fit.total_squares <= 0:
            continue
        if isinstance(effect, Unbounded):
            found[label] = replace(effect, estimate=_ratio(step * effect.estimate))
            continue
        low, value, high = (
            _ratio(step * end) for end in (effect.low, effect.estimate, effect.high)
        )
        found[label] = Estimate(value, low, high, effect.confidence, effect.method)
    return found


def _ratio(logarithm: float) -> float:
    return expm1(min(logarithm, _LARGEST_LOG))


def _steps(changed: Changed) -> Mapping[str, float]:
    """How many effects lie between the low level and the high one, by column."""
    fit, factors, coding = changed.fit, changed.factors, changed.coding
    names = {factor.name for factor in factors}
    several = {factor.name for factor in factors if len(factor.levels) > 2}
    found: dict[str, float] = {}
    for column in fit.model.columns[1:]:
        parts = set(column.term.split(":")) if column.term not in names else {column.term}
        if not parts <= names or (coding == "coded" and parts & several):
            continue
        found[column.label] = 2.0 if coding == "coded" else 1.0
    return found


def _base(changed: Changed) -> Floats:
    """The combination of coefficients that is the response which changes are related to."""
    fit = changed.fit
    means = {covariate.name: float(covariate.values.mean()) for covariate in changed.covariates}
    base = np.zeros(fit.rank)
    for place, column in enumerate(fit.columns.kept):
        base[place] = 1.0 if column == 0 else means.get(fit.model.columns[column].label, 0.0)
    return base


def _unbounded(value: float, confidence: float) -> Unbounded:
    return Unbounded(
        value, confidence, METHOD, "no-error-degrees",
        "No variation is left to tell effects from.",
    )  # fmt: skip
