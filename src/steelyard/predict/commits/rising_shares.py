"""The share of changes by how rare a pair's indicators are, rising."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.predict.arrays import Floats
from steelyard.predict.commits.commit_model import Probabilities, base_rate, share_bounds
from steelyard.predict.commits.pair_table import PairTable


@dataclass(frozen=True)
class RisingShares:
    """Sorted values of neutral rows, and shares of hits by score.

    Parameters
    ----------
    neutral : tuple of array
        For each indicator its values in neutral rows, rising.
    scores : array, shape (m,)
        Where each block of the rising function begins.
    shares : Probabilities, shape (m,)
    """

    neutral: tuple[Floats, ...]
    scores: Floats
    shares: Probabilities

    def probabilities(self, values: Floats) -> Probabilities:
        """The share of the block that each row's score is in."""
        block = np.searchsorted(self.scores, rarity(values, self.neutral), side="right") - 1
        block = np.maximum(block, 0)
        return Probabilities(
            self.shares.estimate[block], self.shares.low[block], self.shares.high[block]
        )


def rarity(values: Floats, neutral: tuple[Floats, ...]) -> Floats:
    """For each row the largest share of neutral rows that one of its indicators exceeds.

    An indicator that is 0 or unknown says nothing.
    """
    scores = np.zeros(len(values))
    for column, known in enumerate(neutral):
        if len(known):
            below = np.searchsorted(known, values[:, column], side="left") / len(known)
            scores = np.maximum(scores, np.where(values[:, column] > 0, below, 0.0))
    return scores


def learn_rising_shares(table: PairTable) -> RisingShares:
    """Pool adjacent violators over scores (Ayer et al., Ann. Math. Stat. 26 (1955) 641)."""
    decided = table.decided()
    values = decided.values
    neutral = tuple(np.sort(column[decided.neutral & ~np.isnan(column)]) for column in values.T)
    scores = rarity(values, neutral)
    blocks: list[tuple[float, float, float]] = []
    found, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    changed = np.bincount(place, weights=decided.hits, minlength=len(found))
    for block in zip(found.tolist(), changed.tolist(), counts.astype(float).tolist(), strict=True):
        blocks.append(block)
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][2] >= blocks[-1][1] * blocks[-2][2]:
            _, hits, total = blocks.pop()
            begin, more, others = blocks.pop()
            blocks.append((begin, hits + more, total + others))
    begins, hits, total = (np.array(column) for column in zip(*blocks, strict=True))
    shares = share_bounds(hits, total, base_rate(table))
    # Drawing small blocks towards the base rate may have turned their order.
    rising = (np.maximum.accumulate(part) for part in (shares.estimate, shares.low, shares.high))
    return RisingShares(neutral, begins, Probabilities(*rising))
