"""Box and Cox's choice of a transformation of the response."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import chi_squared_upper_quantile
from steelyard.analysis.linear.design_least_squares import fit
from steelyard.analysis.linear.model_matrix import ModelMatrix
from steelyard.core.errors import AnalysisError

Floats = NDArray[np.float64]

_POWERS = np.round(np.arange(-2.0, 2.0001, 0.1), 10)
# So many rows place the maximum well enough; more would only cost time.
_ENOUGH_ROWS = 20_000
NAMED = {"log": 0.0, "sqrt": 0.5, "inverse": -1.0}


@dataclass(frozen=True)
class PowerChoice:
    """The power of the response whose residuals are likeliest, with its interval.

    `name` is that of ``--option transform``; None where the interval holds 1, no transformation.
    """

    power: float
    low: float
    high: float
    name: str | None


def transformed(values: Floats, name: str) -> Floats:
    """The response on another scale.

    Raises
    ------
    AnalysisError
        No such transformation, or values that it cannot take.
    """
    if name not in NAMED:
        raise AnalysisError(
            f"There is no transformation {name!r}. Known: {', '.join(NAMED)}.",
            field="--option transform",
        )
    if not bool((values > 0).all()):
        raise AnalysisError(
            f"The transformation {name} takes values above 0; the smallest is {values.min():g}.",
            field="--option transform",
        )
    power = NAMED[name]
    return np.log(values) if power == 0 else values**power


def box_cox(model: ModelMatrix, values: Floats) -> PowerChoice | None:
    """The likeliest power of the response under the model.

    Returns
    -------
    PowerChoice or None
        None where a value is not above 0, or nothing is left to judge by.

    Notes
    -----
    Box and Cox, J. R. Statist. Soc. B 26 (1964) 211: the profile likelihood over powers from -2
    to 2, the response scaled by its geometric mean; the interval holds what is within half the
    quantile of chi-squared with one degree.
    """
    if not bool((values > 0).all()) or not np.ptp(values) > 0:
        return None
    logs = np.log(values)
    logs -= logs.mean()
    likelihoods = np.array([_likelihood(model, logs, float(power)) for power in _POWERS])
    if not bool(np.isfinite(likelihoods).all()):
        return None
    best = int(likelihoods.argmax())
    near = _POWERS[likelihoods >= likelihoods[best] - chi_squared_upper_quantile(0.05, 1) / 2]
    low, high = float(near.min()), float(near.max())
    return PowerChoice(float(_POWERS[best]), low, high, _name(float(_POWERS[best]), low, high))


def _likelihood(model: ModelMatrix, logs: Floats, power: float) -> float:
    scaled = logs if power == 0 else np.expm1(power * logs) / power
    squares = fit(model, scaled).error_squares
    return -len(logs) / 2 * float(np.log(squares)) if squares > 0 else float("nan")


def _name(best: float, low: float, high: float) -> str | None:
    if low <= 1.0 <= high:
        return None
    inside = [name for name, power in NAMED.items() if low <= power <= high]
    return min(inside or NAMED, key=lambda name: abs(NAMED[name] - best))


def thinned(model: ModelMatrix, values: Floats) -> tuple[ModelMatrix, Floats]:
    """Evenly spaced rows, where there are more than are needed to place the maximum."""
    from dataclasses import replace

    stride = max(1, len(values) // _ENOUGH_ROWS)
    if stride == 1:
        return model, values
    present, point = np.unique(model.point[::stride], return_inverse=True)
    fewer = replace(
        model,
        matrix=model.matrix[present],
        point=point.reshape(-1).astype(np.int64),
        counts=np.bincount(point.reshape(-1)).astype(np.int64),
        levels=model.levels[present],
    )
    return fewer, values[::stride]
