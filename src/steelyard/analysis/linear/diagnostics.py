"""Whether a fitted linear model has what its intervals rest on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import (
    chi_squared_upper_p,
    f_quantile,
    f_upper_p,
    t_two_sided_p,
)
from steelyard.analysis.linear.design_least_squares import Fit
from steelyard.analysis.linear.model_matrix import INTERCEPT
from steelyard.analysis.linear.orthogonal import orthogonalised
from steelyard.analysis.tables.table_analysis import Test
from steelyard.analysis.tests.anderson_darling import anderson_darling
from steelyard.analysis.tests.equal_variances import levene
from steelyard.analysis.tests.shapiro_wilk import LARGEST_COUNT, shapiro_wilk

Floats = NDArray[np.float64]

# The level of every test of an assumption; the issue it raises costs little where it is false.
LEVEL = 0.05
# Fewer residuals than this cannot show a shape.
_FEWEST_DEGREES = 3
_FEWEST_REPLICATES = 3


@dataclass(frozen=True)
class Diagnostics:
    """Tests of residuals, and the rows that carry the fit.

    Parameters
    ----------
    normality, breusch_pagan, brown_forsythe, lack_of_fit : Test or None
        None where the data cannot tell.
    influential : tuple of (row, distance)
        Rows whose Cook's distance is above the median of F, the largest first.
    largest_distance : float or None
        The largest of Cook's distances.
    outlier : (row, p) or None
        The largest studentised residual, p corrected for its being the largest.
    inflation : dict of str to float
        The variance inflation factor of each column but the intercept.
    """

    normality: Test | None
    breusch_pagan: Test | None
    brown_forsythe: Test | None
    lack_of_fit: Test | None
    influential: tuple[tuple[int, float], ...]
    largest_distance: float | None
    outlier: tuple[int, float] | None
    inflation: dict[str, float]

    @property
    def spread_p(self) -> float | None:
        """Of the tests for one variance together (Bonferroni); None where there is none."""
        found = [t.p for t in (self.breusch_pagan, self.brown_forsythe) if t and t.p is not None]
        return min(1.0, len(found) * min(found)) if found else None

    def tests(self) -> tuple[Test, ...]:
        """Those that there are."""
        found = (self.normality, self.breusch_pagan, self.brown_forsythe, self.lack_of_fit)
        return tuple(test for test in found if test is not None)


def diagnose(fit: Fit) -> Diagnostics:
    """Test the residuals of a fit."""
    usable = fit.error_degrees >= _FEWEST_DEGREES and fit.error_squares > 0
    distances, studentised = _influence(fit) if usable else (np.zeros(0), np.zeros(0))
    limit = f_quantile(0.5, fit.rank, fit.error_degrees) if usable else 0.0
    order = np.argsort(-distances, kind="stable")[:10].tolist()
    return Diagnostics(
        normality=residual_normality(fit.residuals) if usable else None,
        breusch_pagan=_breusch_pagan(fit) if usable else None,
        brown_forsythe=_brown_forsythe(fit) if usable else None,
        lack_of_fit=_lack_of_fit(fit) if usable else None,
        influential=tuple((row, float(distances[row])) for row in order if distances[row] > limit),
        largest_distance=float(distances.max()) if usable else None,
        outlier=_outlier(fit, studentised) if usable else None,
        inflation=_inflation(fit),
    )


def residual_normality(residuals: Floats) -> Test | None:
    """Shapiro and Wilk's test, or above 5000 residuals Anderson and Darling's."""
    if len(residuals) <= LARGEST_COUNT:
        found, name = shapiro_wilk(residuals.tolist()), "Shapiro-Wilk"
    else:
        found, name = anderson_darling(residuals), "Anderson-Darling"
    return None if found is None else Test(name, found.statistic, (), found.p)


def _breusch_pagan(fit: Fit) -> Test | None:
    """Breusch and Pagan's test on the main effects, in Koenker's studentised form (Journal of
    Econometrics 17 (1981) 107), which does not take the errors for normal."""
    model = fit.model
    main = [place for place, c in enumerate(model.columns) if ":" not in c.term]
    weights = np.sqrt(model.counts)
    columns = orthogonalised(model.matrix[:, main] * weights[:, None])
    degrees = len(columns.kept) - 1
    if degrees < 1:
        return None
    squares = fit.residuals**2
    squares = squares / squares.mean() - 1.0
    total = float(squares @ squares)
    if not total > 1e-20 * fit.count:
        return None
    part = np.asarray(columns.basis, dtype=np.float64).T @ (fit.by_point(squares) / weights)
    statistic = fit.count * float(part @ part) / total
    return Test(
        "Breusch-Pagan", statistic, (float(degrees),), chi_squared_upper_p(statistic, degrees)
    )


def _brown_forsythe(fit: Fit) -> Test | None:
    """Between the points of the design, where they are replicated."""
    if int(fit.model.counts.min()) < _FEWEST_REPLICATES:
        return None
    return levene(fit.residuals, fit.model.point, "median")


def _lack_of_fit(fit: Fit) -> Test | None:
    """Whether the points differ from the model by more than replicates differ from each other."""
    point_count = len(fit.model.counts)
    degrees = (float(point_count - fit.rank), float(fit.count - point_count))
    within = float(fit.point_squares.sum())
    if min(degrees) < 1 or not within > 0:
        return None
    statistic = max(0.0, fit.error_squares - within) / degrees[0] / (within / degrees[1])
    return Test("lack of fit", statistic, degrees, f_upper_p(statistic, *degrees))


def _influence(fit: Fit) -> tuple[Floats, Floats]:
    """Cook's distance and the externally studentised residual of each row (Cook and Weisberg,
    Residuals and Influence in Regression, 1982, sections 2.2 and 3.5)."""
    leverage = fit.leverages[fit.model.point]
    left = np.maximum(1.0 - leverage, 1e-12)
    variance = fit.error_variance or 0.0
    squares = fit.residuals**2
    distances = squares * leverage / (fit.rank * variance * left**2)
    others = (fit.error_squares - squares / left) / max(1, fit.error_degrees - 1)
    studentised = fit.residuals / np.sqrt(np.maximum(others, 1e-300) * left)
    alone = leverage > 1.0 - 1e-9
    return np.where(alone, 0.0, distances), np.where(alone, 0.0, studentised)


def _outlier(fit: Fit, studentised: Floats) -> tuple[int, float] | None:
    row = int(np.abs(studentised).argmax())
    p = t_two_sided_p(float(studentised[row]), fit.error_degrees - 1)
    return row, min(1.0, fit.count * p)


def _inflation(fit: Fit) -> dict[str, float]:
    """How much each coefficient's variance is above that in a design without correlation."""
    model = fit.model
    unscaled = np.diag(fit.unscaled_covariance)
    found: dict[str, float] = {}
    for place, column in enumerate(fit.columns.kept):
        if model.columns[column].term == INTERCEPT:
            continue
        values = model.matrix[:, column]
        mean = float(model.counts @ values) / fit.count
        squares = float(model.counts @ (values - mean) ** 2)
        found[model.columns[column].label] = float(unscaled[place]) * squares
    return found
