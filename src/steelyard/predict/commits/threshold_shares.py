"""Algorithm 1 with probabilities: the share of changes on either side of its thresholds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.predict.arrays import Floats, Truths
from steelyard.predict.commits.commit_model import Probabilities, base_rate, share_bounds
from steelyard.predict.commits.pair_table import PairTable
from steelyard.predict.commits.thresholds import Thresholds, choose_thresholds

_FOLDS = 5


@dataclass(frozen=True)
class ThresholdShares:
    """Thresholds, and how often a yes and a no of theirs were changes."""

    thresholds: Thresholds
    indicators: tuple[str, ...]
    shares: Probabilities

    def probabilities(self, values: Floats) -> Probabilities:
        """The share of changes among rows with the same answer."""
        side = self.thresholds.run(values, self.indicators).astype(int)
        return Probabilities(
            self.shares.estimate[side], self.shares.low[side], self.shares.high[side]
        )


def learn_threshold_shares(table: PairTable) -> ThresholdShares:
    """Thresholds from all rows; shares from rows that were left out in turn.

    On the rows that thresholds are chosen from, a no is never a change: every fifth row, in the
    order of revisions, is therefore answered by thresholds from the others.
    """
    decided = table.decided()
    run = np.zeros(len(decided), bool)
    answered = np.zeros(len(decided), bool)
    fold = np.argsort(np.argsort(decided.order, kind="stable")) % _FOLDS
    for number in range(_FOLDS):
        left_out = fold == number
        rest = decided.rows(~left_out)
        if rest.hits.any() and rest.neutral.any() and left_out.any():
            thresholds = choose_thresholds(rest)
            run[left_out] = thresholds.run(decided.values[left_out], decided.indicators)
            answered |= left_out
    shares = _shares(run[answered], decided.hits[answered], base_rate(table))
    return ThresholdShares(choose_thresholds(decided), table.indicators, shares)


def _shares(run: Truths, hits: Truths, base: float) -> Probabilities:
    counted = np.array([float((hits & ~run).sum()), float((hits & run).sum())])
    total = np.array([float((~run).sum()), float(run.sum())])
    found = share_bounds(counted, total, base)
    # A no is never more probable to be a change than a yes.
    if found.estimate[0] > found.estimate[1]:
        return share_bounds(np.full(2, counted.sum()), np.full(2, total.sum()), base)
    return found
