"""Effects of a fitted linear model with their intervals, and where its variation comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import (
    f_upper_p,
    t_power,
    t_quantile,
    t_two_sided_p,
)
from steelyard.analysis.linear.design_least_squares import Fit
from steelyard.analysis.linear.model_matrix import INTERCEPT, ModelMatrix
from steelyard.analysis.linear.orthogonal import Orthogonal
from steelyard.analysis.tables.table_analysis import Effect, Source
from steelyard.core.estimate import Estimate, Interval, Unbounded

Floats = NDArray[np.float64]

# The power that a detectable effect is told for, by custom (Cohen, 1988, section 2.4).
USUAL_POWER = 0.8
_BISECTIONS = 60
# Weights of an alias below this are rounding.
_SMALLEST_WEIGHT = 1e-8


@dataclass(frozen=True)
class Spread:
    """How the coefficients vary: their covariance, the degrees of each, and what it is called.

    Parameters
    ----------
    covariance : array, kept x kept
    degrees : array
        Of each coefficient's own variance.
    method : str
        ``"student-ols"``: one variance for all rows. ``"welch-points"``: each point of the
        design has its own. ``"student-hc3"``: each row.
    """

    covariance: Floats
    degrees: Floats
    method: str


def common_spread(fit: Fit) -> Spread | None:
    """One error variance for all rows; None where no degrees of freedom are left for it."""
    variance = fit.error_variance
    if variance is None:
        return None
    degrees = np.full(fit.rank, float(fit.error_degrees))
    return Spread(fit.unscaled_covariance * variance, degrees, "student-ols")


def robust_spread(fit: Fit) -> Spread | None:
    """Variances that need not be alike; None where the data cannot give them.

    Notes
    -----
    Where every point of the design is replicated, a coefficient is a weighted sum of
    independent means, each with its own variance; degrees of freedom are Satterthwaite's
    (Welch, Biometrika 34 (1947) 28). Otherwise MacKinnon and White's HC3 (Journal of
    Econometrics 29 (1985) 305).
    """
    counts = fit.model.counts
    weights = np.sqrt(counts)
    inverse = np.asarray(fit.columns.inverse, dtype=np.float64)
    basis = np.asarray(fit.columns.basis, dtype=np.float64)
    if int(counts.min()) >= 2:
        shares = inverse @ basis.T * weights
        variances = fit.point_squares / (counts - 1) / counts
        covariance = (shares * variances) @ shares.T
        parts = shares**2 * variances
        below = (parts**2 / (counts - 1)).sum(axis=1)
        total = np.diag(covariance)
        degrees = np.divide(total**2, below, out=np.full(fit.rank, np.inf), where=below > 0)
        return Spread(covariance, degrees, "welch-points")
    left = 1.0 - fit.leverages
    if bool((left < 1e-10).any()) or fit.error_degrees < 1:
        return None
    squares = fit.by_point(fit.residuals**2) / left**2
    shares = inverse @ basis.T / weights
    covariance = (shares * squares) @ shares.T
    return Spread(covariance, np.full(fit.rank, float(fit.error_degrees)), "student-hc3")


def aliases_of(
    model: ModelMatrix, columns: Orthogonal
) -> tuple[dict[int, list[str]], dict[int, list[tuple[str, float]]]]:
    """What the design cannot tell apart.

    Returns
    -------
    dict, dict
        For each kept column the labels that its effect may as well belong to, with signs; for
        each dropped column the kept ones that it is a combination of, with weights.
    """
    kept: dict[int, list[str]] = {}
    dropped: dict[int, list[tuple[str, float]]] = {}
    labels = [column.label for column in model.columns]
    weights = np.asarray(columns.combinations, dtype=np.float64)
    for place, column in enumerate(columns.dropped):
        dropped[column] = []
        for row, keeper in enumerate(columns.kept):
            weight = float(weights[row, place])
            if abs(weight) < _SMALLEST_WEIGHT:
                continue
            dropped[column].append((labels[keeper], weight))
            kept.setdefault(keeper, []).append(_weighted(labels[column], weight))
    return kept, dropped


def _weighted(label: str, weight: float) -> str:
    if abs(abs(weight) - 1.0) < _SMALLEST_WEIGHT:
        return label if weight > 0 else f"-{label}"
    return f"{weight:.3g} {label}"


def effects_of(
    fit: Fit, spread: Spread | None, confidence: float, unit: str, change: float | None
) -> tuple[Effect, ...]:
    """An effect for each column of the model, the intercept first, aliased ones last.

    Parameters
    ----------
    fit : Fit
    spread : Spread or None
        None: there is nothing to tell the error from.
    confidence : float
    unit : str
        Of the response.
    change : float or None
        The effect that power is told for.
    """
    kept_aliases, dropped = aliases_of(fit.model, fit.columns)
    unscaled = np.diag(fit.unscaled_covariance)
    single = {
        term: len(fit.model.columns_of(term)) == 1 for term in [INTERCEPT, *fit.model.terms()]
    }
    constant = fit.total_squares <= 0
    found: list[Effect] = []
    for place, column in enumerate(fit.columns.kept):
        label = fit.model.columns[column]
        value = float(fit.coefficients[place])
        error = None if spread is None else float(spread.covariance[place, place]) ** 0.5
        degrees = 0.0 if spread is None else float(spread.degrees[place])
        first = label.term == INTERCEPT
        tested = not first and single[label.term]
        found.append(
            Effect(
                term=label.label,
                effect=_interval(fit, value, error, degrees, confidence, spread),
                unit=unit,
                sum_squares=value**2 / float(unscaled[place]) if tested else None,
                degrees=None if first else 1,
                p=None if first or error is None or constant else _p(value, error, degrees),
                aliases=tuple(kept_aliases.get(column, ())),
                power=None if first or constant else _power(change, error, degrees, confidence),
                detectable=None if first else detectable(error, degrees, confidence),
            )
        )
    labels = fit.model.columns
    gone = (aliased(labels[column].label, dropped[column], confidence) for column in dropped)
    return (*found, *gone)


def _interval(
    fit: Fit,
    value: float,
    error: float | None,
    degrees: float,
    confidence: float,
    spread: Spread | None,
) -> Interval:
    method = "student-ols" if spread is None else spread.method
    if fit.total_squares <= 0:
        return Unbounded(
            value, confidence, method, "constant-response",
            "The response has the same value in every row: nothing varies that a factor could "
            "explain, and nothing tells how well it is known.",
        )  # fmt: skip
    if error is None:
        return Unbounded(
            value, confidence, method, "no-error-degrees",
            "The model has as many terms as the design has rows, so that no variation is left to "
            "tell effects from. Replicate the design, or leave the highest interactions out "
            "(--option interactions=N).",
        )  # fmt: skip
    half = t_quantile(0.5 + confidence / 2, degrees) * error
    return Estimate(value, value - half, value + half, confidence, method)


def _p(value: float, error: float, degrees: float) -> float:
    if error > 0:
        return t_two_sided_p(value / error, degrees)
    return 1.0 if value == 0 else 0.0


def _power(
    change: float | None, error: float | None, degrees: float, confidence: float
) -> float | None:
    if change is None or error is None or not np.isfinite(degrees):
        return None
    return t_power(change / error, degrees, confidence) if error > 0 else 1.0


def detectable(error: float | None, degrees: float, confidence: float) -> float | None:
    """The effect that a test finds with the usual power; None without an error to test against."""
    if error is None or error <= 0 or not np.isfinite(degrees):
        return None
    low, high = 0.0, 4.0
    while t_power(high, degrees, confidence) < USUAL_POWER:
        high *= 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        enough = t_power(middle, degrees, confidence) >= USUAL_POWER
        low, high = (low, middle) if enough else (middle, high)
    return high * error


def aliased(label: str, combination: Sequence[tuple[str, float]], confidence: float) -> Effect:
    """An effect that the design cannot tell from a combination of others."""
    known = " + ".join(_weighted(name, weight) for name, weight in combination) or "nothing"
    reason = Unbounded(
        None, confidence, "student-ols", "aliased",
        f"In this design {label} is the same as {known}: their effects cannot be told apart.",
    )  # fmt: skip
    return Effect(
        label, reason, aliases=tuple(_weighted(name, weight) for name, weight in combination)
    )


def sources_of(fit: Fit, spread: Spread | None) -> tuple[Source, ...]:
    """The analysis of variance: what each term takes off, all others being there.

    Parameters
    ----------
    fit : Fit
        Of a coded model.
    spread : Spread or None
        With which terms are tested; with one variance for all rows that is the F test.

    Notes
    -----
    Partial (type III) sums of squares: ``b' C^-1 b`` for the term's coefficients b and their
    unscaled covariance C. In a balanced design they are those of any other type and add up.
    """
    place_of = {column: place for place, column in enumerate(fit.columns.kept)}
    unscaled = fit.unscaled_covariance
    found: list[Source] = []
    for term in fit.model.terms():
        places = [place_of[c] for c in fit.model.columns_of(term) if c in place_of]
        if not places:
            continue
        values = fit.coefficients[places]
        squares = float(values @ np.linalg.solve(unscaled[np.ix_(places, places)], values))
        statistic, p = _term_test(values, places, spread)
        share = squares / fit.total_squares if fit.total_squares > 0 else None
        found.append(
            Source(
                term=term,
                degrees=len(places),
                sum_squares=squares,
                mean_square=squares / len(places),
                statistic=statistic,
                p=p,
                share=share,
                share_name="eta squared",
            )
        )
    error = Source("error", fit.error_degrees, fit.error_squares, fit.error_variance)
    return (*found, error, Source("total", fit.count - 1, fit.total_squares))


def _term_test(
    values: Floats, places: Sequence[int], spread: Spread | None
) -> tuple[float | None, float | None]:
    if spread is None:
        return None, None
    covariance = spread.covariance[np.ix_(places, places)]
    if not bool((np.diag(covariance) > 0).all()):
        return None, None
    statistic = float(values @ np.linalg.solve(covariance, values)) / len(places)
    return statistic, f_upper_p(statistic, len(places), float(spread.degrees[list(places)].min()))
