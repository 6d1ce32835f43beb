"""Missing cells of a table from its low-rank structure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.predict.arrays import Floats, Truths

# Thresholds on singular values, as shares of the largest, from simple to detailed.
THRESHOLDS = (0.5, 0.25, 0.12, 0.06, 0.03, 0.015)
STEPS_EACH = 12
# Every ninth known cell chooses the threshold: enough to judge by, few enough to learn without.
HELD_OUT_STRIDE = 9


@dataclass(frozen=True)
class Completed:
    """A table without gaps.

    Parameters
    ----------
    values : array, shape (h, b)
        Observed cells as they are, others predicted.
    fitted : array, shape (h, b)
        The low-rank table itself, at every cell.
    """

    values: Floats
    fitted: Floats


def complete_table(values: Floats) -> Completed:
    """Fill the NaN of a table of logarithms by effects of rows and columns and a low rank.

    Soft-thresholded singular values (Mazumder, Hastie & Tibshirani 2010, algorithm 1) of what
    effects of rows and columns leave. The threshold is the one that best predicts every ninth
    known cell. A row or column with no value at all gets the other's effect.

    Parameters
    ----------
    values : array, shape (h, b)
        NaN where a cell is missing; at least one is not.
    """
    observed = np.isfinite(values)
    if observed.all():
        return Completed(values, values)
    threshold = _choose_threshold(values, observed)
    fitted = _path(values, observed, THRESHOLDS[: THRESHOLDS.index(threshold) + 1])[-1]
    return Completed(np.where(observed, values, fitted), fitted)


def _choose_threshold(values: Floats, observed: Truths) -> float:
    """The threshold that best predicts cells held out."""
    cells = np.flatnonzero(observed)
    # Strided over a fixed shuffle, so that no row or column loses all its cells by the stride.
    held = np.random.default_rng(0).permutation(cells)[::HELD_OUT_STRIDE]
    without = observed.copy()
    without.flat[held] = False
    fits = _path(values, without, THRESHOLDS)
    errors = [float(np.abs(fit.flat[held] - values.flat[held]).mean()) for fit in fits]
    return THRESHOLDS[int(np.argmin(errors))]


def _path(values: Floats, observed: Truths, thresholds: tuple[float, ...]) -> list[Floats]:
    """Fits at falling thresholds, each started from the one before."""
    effects = additive_effects(values, observed)
    rest = np.where(observed, values - effects, 0.0)
    scale = float(np.linalg.norm(rest, 2)) or 1.0
    low = np.zeros_like(rest)
    fits: list[Floats] = []
    for threshold in thresholds:
        for _ in range(STEPS_EACH):
            left, singular, right = np.linalg.svd(np.where(observed, rest, low), False)
            kept = np.maximum(singular - threshold * scale, 0)
            low = (left * kept) @ right
        fits.append(effects + low)
    return fits


def additive_effects(values: Floats, observed: Truths) -> Floats:
    """Row effect + column effect at every cell, by alternating means of the observed cells."""
    filled = np.where(observed, values, 0.0)
    in_row, in_column = np.maximum(observed.sum(1), 1), np.maximum(observed.sum(0), 1)
    mean = filled.sum() / max(int(observed.sum()), 1)
    row, column = np.zeros(values.shape[0]), np.zeros(values.shape[1])
    for _ in range(30):
        row = np.where(observed, filled - mean - column, 0).sum(1) / in_row
        column = np.where(observed, filled - mean - row[:, None], 0).sum(0) / in_column
    return mean + row[:, None] + column
