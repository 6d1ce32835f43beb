"""Which assumptions of a linear model hold, and what to do where they do not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.linear.box_cox import PowerChoice, transformed
from steelyard.analysis.linear.design_least_squares import Fit, fit
from steelyard.analysis.linear.diagnostics import LEVEL, Diagnostics, diagnose
from steelyard.analysis.linear.model_matrix import ModelMatrix
from steelyard.analysis.tables.table_analysis import Assumption
from steelyard.analysis.tests.independence import FEWEST_VALUES, autocorrelation, ljung_box

Floats = NDArray[np.float64]

# From so many rows a coefficient on, the central limit carries the intervals of means.
_CENTRAL_ROWS = 30
# As of any sequence: analysis/tests/independence.py.
_TESTED_LAGS = 10


def not_normal(found: Diagnostics) -> bool:
    """Whether the residuals are told not to be normal."""
    return found.normality is not None and (found.normality.p or 0.0) < LEVEL


def assumptions_of(
    fitted: Fit, found: Diagnostics, choice: PowerChoice | None, robust: bool, values: Floats
) -> tuple[Assumption, ...]:
    """Normality, equal variances, and that no row decides alone.

    Parameters
    ----------
    fitted : Fit
    found : Diagnostics
    choice : PowerChoice or None
        Box and Cox's, where an assumption fails.
    robust : bool
        Whether the intervals allow each point its own variance.
    values : array
        The response.
    """
    instead = _instead(fitted.model, choice, values)
    many = fitted.count >= _CENTRAL_ROWS * fitted.rank
    normal: bool | None = None
    if found.normality is not None:
        normal = not not_normal(found)
    alike: bool | None = None
    if found.spread_p is not None:
        alike = found.spread_p >= LEVEL
    carried = (
        "With so many rows the intervals of means hold all the same; what happens off the mean "
        "they do not show. "
        if many
        else ""
    )
    allowed = (
        "The intervals here allow each point of the design its own variance. "
        if robust
        else "The intervals here take all rows to vary alike, and may be too narrow. "
    )
    return (
        Assumption(
            "normal residuals",
            normal,
            None if found.normality is None else found.normality.p,
            carried + instead if normal is False else "",
        ),
        Assumption(
            "equal variances",
            alike,
            found.spread_p,
            allowed + instead if alike is False else "",
        ),
        _no_influence(found),
    )


def independent_residuals(residuals: Floats, sequence: Floats | None) -> tuple[Assumption, ...]:
    """Whether residuals in the order of their making depend on those before; nothing where that
    order is not known."""
    if sequence is None:
        return ()
    ordered = residuals[np.argsort(sequence, kind="stable")].tolist()
    lags = max(1, min(_TESTED_LAGS, len(ordered) // 5))
    correlations = autocorrelation(ordered, lags)
    if correlations is None or len(ordered) < FEWEST_VALUES:
        return (Assumption("independent residuals", None, None, ""),)
    p = ljung_box(correlations, len(ordered))
    advice = (
        "Rows depend on those made before them, so that there are fewer than they seem and "
        "intervals are too narrow. Run in random order, or name what rows share: `--method mixed`."
    )
    holds = p >= LEVEL
    return (Assumption("independent residuals", holds, p, "" if holds else advice),)


def _instead(model: ModelMatrix, choice: PowerChoice | None, values: Floats) -> str:
    """Which analysis to use where the assumptions fail: a transformation that mends them, if
    there is one."""
    quantile = "Use `--method quantile`, which assumes neither."
    if choice is None or choice.name is None:
        return quantile
    again = diagnose(fit(model, transformed(values, choice.name)))
    mended = not not_normal(again) and (again.spread_p is None or again.spread_p >= LEVEL)
    found = (
        f"Box and Cox's power is {choice.power:g} ({choice.low:g} … {choice.high:g}): with "
        f"`--option transform={choice.name}`"
    )
    if mended:
        return f"{found} both assumptions hold, and effects are on that scale."
    return f"{found} they do not hold either. {quantile}"


def _no_influence(found: Diagnostics) -> Assumption:
    name = "no row decides alone"
    if found.largest_distance is None:
        return Assumption(name, None, None, "")
    if not found.influential:
        return Assumption(name, True, None, "")
    rows = ", ".join(f"row {row + 1} (Cook's distance {d:.2g})" for row, d in found.influential[:5])
    return Assumption(
        name, False, None, f"The fit rests on {rows}. Look at what happened there; the answer "
        "without them is another one.",
    )  # fmt: skip
