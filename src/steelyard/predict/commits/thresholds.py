"""Thresholds of indicators, chosen greedily so that every learnt change is covered.

Algorithm 1 of Oliveira 2015, section 6.4.3. As printed, line 17 starts the search for the
dearest change at a price of 0 and line 21 asks for a higher one. A change that costs no false
positive is then never chosen, and the loop does not end. Here the search starts below 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from steelyard.predict.arrays import Floats, Truths
from steelyard.predict.commits.pair_table import PairTable, check_learnable


@dataclass(frozen=True)
class Thresholds:
    """Run a benchmark where any indicator reaches its threshold.

    Parameters
    ----------
    by_indicator : mapping of str to float
        Indicators without a threshold never say yes.
    uncovered : int
        Learnt changes that no indicator is known for: nothing can cover them.
    """

    by_indicator: Mapping[str, float]
    uncovered: int = 0

    def run(self, values: Floats, indicators: tuple[str, ...]) -> Truths:
        """For each row of `values`, shape (n, k), whether an indicator reaches its threshold."""
        return np.asarray(self.reached(values, indicators).any(axis=1))

    def reached(self, values: Floats, indicators: tuple[str, ...]) -> Truths:
        """Which indicators reach their thresholds, shape (n, k). An unknown one does not."""
        limits = np.array([self.by_indicator.get(name, np.inf) for name in indicators])
        return values >= limits


def choose_thresholds(table: PairTable) -> Thresholds:
    """Thresholds that cover every hit of a table.

    Raises
    ------
    AnalysisError
        It has no hit, or no neutral row.
    """
    check_learnable(table)
    hits = table.values[table.hits]
    prices = false_positives(hits, table.values[table.neutral])
    priced = np.where(np.isnan(hits), np.inf, prices)
    cheapest = priced.argmin(axis=1)
    least = priced[np.arange(len(hits)), cheapest]
    left = np.isfinite(least)
    uncovered = int((~left).sum())
    chosen: dict[str, float] = {}
    while left.any():
        dearest = int(np.where(left, least, -1.0).argmax())
        indicator = int(cheapest[dearest])
        threshold = float(hits[dearest, indicator])
        name = table.indicators[indicator]
        chosen[name] = min(threshold, chosen.get(name, np.inf))
        left &= ~(hits[:, indicator] >= threshold)
    return Thresholds(chosen, uncovered)


def false_positives(thresholds: Floats, neutral: Floats) -> Floats:
    """How many neutral rows reach each threshold.

    Parameters
    ----------
    thresholds : array, shape (h, k)
    neutral : array, shape (n, k)

    Returns
    -------
    array, shape (h, k)
    """
    counts = np.empty(thresholds.shape)
    for column in range(thresholds.shape[1]):
        known = np.sort(neutral[~np.isnan(neutral[:, column]), column])
        below = np.searchsorted(known, thresholds[:, column], side="left")
        counts[:, column] = len(known) - below
    return counts
