"""What a model of changes is: learnt from a table, it gives probabilities with bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from steelyard.predict.arrays import Floats
from steelyard.predict.commits.pair_table import PairTable
from steelyard.predict.scipy_functions import beta_quantile

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Probabilities:
    """The probability of a change for each row, with bounds at `CONFIDENCE`."""

    estimate: Floats
    low: Floats
    high: Floats


class LearntModel(Protocol):
    """A model that has learnt."""

    def probabilities(self, values: Floats) -> Probabilities:
        """For rows of indicators, shape (n, k), in the order of the table learnt from."""
        ...


@dataclass(frozen=True)
class CommitModel:
    """A way to turn indicators into a probability.

    Parameters
    ----------
    name : str
    description : str
        One sentence.
    learn : callable
        From a table with hits and neutral rows to a model.
    """

    name: str
    description: str
    learn: Callable[[PairTable], LearntModel]


def share_bounds(hits: Floats, total: Floats, base: float) -> Probabilities:
    """Shares of hits, drawn towards `base` by one case; bounds of the posterior.

    The prior is a beta distribution of mean `base` and weight 1.
    """
    a, b = hits + base, total - hits + (1 - base)
    tail = (1 - CONFIDENCE) / 2
    return Probabilities(
        a / (a + b),
        beta_quantile(a, b, tail),
        beta_quantile(a, b, 1 - tail),
    )


def base_rate(table: PairTable) -> float:
    """The share of hits among rows with a label, drawn towards one half by one case."""
    hits, neutral = float(table.hits.sum()), float(table.neutral.sum())
    return (hits + 0.5) / (hits + neutral + 1)
