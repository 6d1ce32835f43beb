"""The linear model of a factorial experiment: effects first, then what they rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, log10

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import normal_scores
from steelyard.analysis.intervals.corrections import holm
from steelyard.analysis.linear.assumptions import (
    assumptions_of,
    independent_residuals,
    not_normal,
)
from steelyard.analysis.linear.box_cox import box_cox, thinned, transformed
from steelyard.analysis.linear.cautions import design_cautions, fit_cautions
from steelyard.analysis.linear.design_least_squares import Fit, fit
from steelyard.analysis.linear.diagnostics import LEVEL, Diagnostics, diagnose
from steelyard.analysis.linear.effects import (
    common_spread,
    effects_of,
    robust_spread,
    sources_of,
)
from steelyard.analysis.linear.level_means import CodedFit, codings_of, level_means_of
from steelyard.analysis.linear.means_figures import means_figures
from steelyard.analysis.linear.model_matrix import Coding, Covariate, model_matrix
from steelyard.analysis.linear.power import two_level_sample_size
from steelyard.analysis.linear.relative_change import (
    Changed,
    changes_of_logarithms,
    relative_changes,
)
from steelyard.analysis.linear.table_factor import Factor
from steelyard.analysis.tables.figure_values import ResidualFigure
from steelyard.analysis.tables.table_analysis import Analysis, Effect
from steelyard.core.estimate import Interval

Floats = NDArray[np.float64]

# More points than that a plot does not show better.
_DRAWN_ROWS = 2000
METHOD = "anova"


@dataclass(frozen=True)
class LinearQuestion:
    """What is asked of a linear model.

    Parameters
    ----------
    order : int
        The most factors in one interaction.
    coding : str
        ``"coded"`` or ``"treatment"``.
    confidence : float
    transform : str or None
        A transformation of the response: ``"log"``, ``"sqrt"`` or ``"inverse"``.
    change : float or None
        The change of the response that power is told for, in its unit; None: 1 % of its mean.
    power : float or None
        Tell how many replicates find that change with this power.
    sequence : array or None
        When each row was made, as numbers that grow; None: not known.
    robust : bool or None
        Whether each point of the design has a variance of its own; None: as the tests say.
    """

    order: int
    coding: Coding = "coded"
    confidence: float = 0.95
    transform: str | None = None
    change: float | None = None
    power: float | None = None
    sequence: Floats | None = None
    robust: bool | None = None


# The change that power is told for unless one is named: the margin of an equivalent verdict.
USUAL_CHANGE = 0.01


def linear_model(
    factors: Sequence[Factor],
    covariates: Sequence[Covariate],
    response: str,
    unit: str,
    values: Floats,
    question: LinearQuestion,
) -> Analysis:
    """Explain a response by factors and their interactions.

    Parameters
    ----------
    factors, covariates : sequence
    response, unit : str
        Name and unit of the response.
    values : array
        One a row, finite.
    question : LinearQuestion

    Notes
    -----
    Least squares. Where the tests say that rows do not vary alike (or the question does), the
    intervals are those of `robust_spread`.
    """
    if question.transform:
        values = transformed(values, question.transform)
        unit = f"{question.transform} {unit}".strip()
    model = model_matrix(factors, covariates, question.order, question.coding)
    fitted = fit(model, values)
    found = diagnose(fitted)
    common, spread = common_spread(fitted), None
    unlike = found.spread_p is not None and found.spread_p < LEVEL
    if question.robust or (question.robust is None and unlike):
        spread = robust_spread(fitted)
    effects = effects_of(
        fitted, spread or common, question.confidence, unit, _change(question, values)
    )
    plain = fitted
    plain_spread = spread or common
    if question.coding != "coded":
        plain = fit(model_matrix(factors, covariates, question.order, "coded"), values)
        plain_spread = robust_spread(plain) if spread is not None else common_spread(plain)
    sources = sources_of(plain, plain_spread)
    coded = CodedFit(plain, plain_spread, factors, covariates, values)
    means = level_means_of(coded, sources, question.confidence)
    changed = Changed(fitted, spread or common, factors, covariates, question.coding)
    effects = _with_changes(effects, changed, values, question)
    choice = None
    if question.transform is None and (unlike or not_normal(found)):
        choice = box_cox(*thinned(model, values))
    robust = spread is not None
    return Analysis(
        method=METHOD,
        response=response,
        unit=unit,
        count=len(values),
        effects=_corrected(effects),
        sources=sources,
        r_squared=fitted.r_squared,
        tests=found.tests(),
        assumptions=(
            *assumptions_of(fitted, found, choice, robust, values),
            *independent_residuals(fitted.residuals, question.sequence),
        ),
        cautions=(
            *design_cautions(fitted, factors, question.order),
            *fit_cautions(fitted, found, spread or common),
        ),
        figures=(*means_figures(means, factors, response, unit), *_figures(fitted)),
        facts=_facts(fitted, found, question, _stated_change(question, values)),
        conclusion=_equation(effects, response, question.confidence),
        codings=codings_of(factors, question.coding),
        level_means=means,
    )


def _with_changes(
    effects: Sequence[Effect], changed: Changed, values: Floats, question: LinearQuestion
) -> tuple[Effect, ...]:
    """The effects, each with what it changes as a share of the response, where that is one."""
    changes: Mapping[str, Interval] = {}
    if question.transform == "log":
        by_term = {effect.term: effect.effect for effect in effects}
        changes = changes_of_logarithms(changed, by_term)
    elif question.transform is None and float(values.min()) > 0:
        changes = relative_changes(changed, question.confidence)
    return tuple(replace(effect, change=changes.get(effect.term)) for effect in effects)


def _equation(effects: Sequence[Effect], response: str, confidence: float) -> tuple[str, ...]:
    """The model of those effects that chance does not explain; none where it cannot be told."""
    intercept = effects[0].effect.estimate
    if intercept is None or not any(effect.p is not None for effect in effects):
        return ()
    alpha = 1 - confidence
    told = [
        (effect.effect.estimate, effect.term)
        for effect in effects[1:]
        if effect.p is not None and effect.p < alpha and effect.effect.estimate is not None
    ]
    if not told:
        return (f"No effect on {response} has p below {alpha:.2g}.",)
    decimals = _decimals([intercept, *(value for value, _ in told)])
    text = f"{response} = {intercept:.{decimals}f}"
    for value, term in told:
        text += f" {'-' if value < 0 else '+'} {abs(value):.{decimals}f} {term}"
    return (f"{text} (effects with p below {alpha:.2g}).",)


def _decimals(values: Sequence[float]) -> int:
    """Three, or as many as the smallest value takes for as many digits."""
    smallest = min((abs(value) for value in values if value), default=1.0)
    return max(3, 2 - floor(log10(smallest)))


def _stated_change(question: LinearQuestion, values: Floats) -> float | None:
    """The change of the response that power is told for; None where there is none to tell."""
    if question.change is not None:
        return abs(question.change) or None
    return USUAL_CHANGE * abs(float(values.mean())) or None if question.transform is None else None


def _change(question: LinearQuestion, values: Floats) -> float | None:
    """The same as an effect: with coded levels half the change of the response."""
    change = _stated_change(question, values)
    if change is None:
        return None
    return change / 2 if question.coding == "coded" else change


def _corrected(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """With p values that hold for all effects together."""
    tested = [effect.p for effect in effects if effect.p is not None]
    adjusted = iter(holm(tested))
    return tuple(
        effect if effect.p is None else replace(effect, adjusted_p=next(adjusted))
        for effect in effects
    )


def _sample_size(
    fitted: Fit, question: LinearQuestion, change: float | None
) -> dict[str, float | str]:
    """How many replicates of this design find the change with the power asked for."""
    variance = fitted.error_variance
    if question.power is None or change is None or not variance:
        return {}
    points = len(fitted.model.counts)
    wanted = two_level_sample_size(
        change, variance**0.5, points, fitted.rank, question.power, question.confidence
    )
    if wanted.replicates is None or wanted.trials is None:
        return {"replicates_needed": "more than a million"}
    return {
        "change": change,
        "replicates_needed": float(wanted.replicates),
        "trials_needed": float(wanted.trials),
    }


def _facts(
    fitted: Fit, found: Diagnostics, question: LinearQuestion, values_change: float | None
) -> dict[str, float | str]:
    facts: dict[str, float | str] = {
        "coding": question.coding,
        "points": float(len(fitted.model.counts)),
        "error_degrees": float(fitted.error_degrees),
    }
    if fitted.error_variance is not None:
        facts["residual_deviation"] = fitted.error_variance**0.5
    r_squared = fitted.r_squared
    if r_squared is not None and fitted.error_degrees > 0:
        facts["adjusted_r_squared"] = (
            1 - (1 - r_squared) * (fitted.count - 1) / fitted.error_degrees
        )
    if found.largest_distance is not None:
        facts["largest_cooks_distance"] = found.largest_distance
    if found.outlier is not None:
        facts["largest_residual_row"] = float(found.outlier[0] + 1)
        facts["largest_residual_p"] = found.outlier[1]
    facts |= _sample_size(fitted, question, values_change)
    if found.inflation:
        facts["largest_variance_inflation"] = max(found.inflation.values())
    return facts


def _figures(fitted: Fit) -> tuple[ResidualFigure, ...]:
    if fitted.error_squares <= 0:
        return ()
    order = np.argsort(fitted.residuals, kind="stable")
    scores = normal_scores(fitted.count)
    if fitted.count > _DRAWN_ROWS:
        places = np.linspace(0, fitted.count - 1, _DRAWN_ROWS).astype(np.int64)
        order, scores = order[places], scores[places]
    return (
        ResidualFigure(
            tuple(fitted.fitted[order].tolist()),
            tuple(fitted.residuals[order].tolist()),
            tuple(scores.tolist()),
        ),
    )
