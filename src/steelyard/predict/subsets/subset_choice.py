"""Which of the best subsets to keep: by adjusted R² or by Mallows' Cp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from steelyard.predict.least_squares import adjusted_r_squared, mallows_cp
from steelyard.predict.subsets.problem import Subset, Subsets

Criterion = Literal["adjusted-r-squared", "mallows-cp"]
NoiseSource = Literal["full-model", "replicates", "largest-subset"]


@dataclass(frozen=True)
class Noise:
    """The variance of a single observation about the true model, and where it was read."""

    variance: float
    source: NoiseSource


@dataclass(frozen=True)
class Chosen:
    """The subset that a criterion prefers.

    Parameters
    ----------
    subset : Subset
    adjusted_r_squared : float or None
        None where the response does not vary.
    mallows_cp : float or None
        None where no noise is known.
    noise : Noise or None
    exhaustive : bool
        As `Subsets.exhaustive`.
    """

    subset: Subset
    adjusted_r_squared: float | None
    mallows_cp: float | None
    noise: Noise | None
    exhaustive: bool


def noise_of(
    subsets: Subsets, candidates: int, replicate_variance: float | None = None
) -> Noise | None:
    """The noise variance that Mallows' Cp is measured by.

    Parameters
    ----------
    subsets : Subsets
    candidates : int
        Predictors that were there to choose from.
    replicate_variance : float, optional
        Variance of the response's mean over replicates, in its unit squared.

    Notes
    -----
    The residual variance of the full model where it has a residual degree of freedom (Mallows).
    With as many predictors as observations it has none: then the replicates give it; and without
    replicates the best subset with at most half of the degrees of freedom as predictors. None
    where that fits perfectly.
    """
    n, last = subsets.observations, subsets.by_size[-1]
    size = len(last.predictors)
    if size == candidates and n - size - 1 >= 1 and last.residual_sum_squares > 0:
        return Noise(last.residual_sum_squares / (n - size - 1), "full-model")
    if replicate_variance is not None and replicate_variance > 0:
        return Noise(replicate_variance, "replicates")
    largest = subsets.by_size[min((n - 1) // 2, size)]
    degrees = n - len(largest.predictors) - 1
    if degrees < 1 or largest.residual_sum_squares <= 0:
        return None
    return Noise(largest.residual_sum_squares / degrees, "largest-subset")


def choose_subset(subsets: Subsets, criterion: Criterion, noise: Noise | None) -> Chosen:
    """The subset of largest adjusted R² or least Cp; the smaller one where they are equal.

    Where Cp is asked for and no noise is known, adjusted R² decides.
    """
    n = subsets.observations
    best: Chosen | None = None
    least = float("inf")
    for subset in subsets.by_size:
        rss, size = subset.residual_sum_squares, len(subset.predictors)
        adjusted = adjusted_r_squared(rss, subsets.total_sum_squares, n, size)
        cp = None if noise is None else mallows_cp(rss, noise.variance, n, size)
        score = cp if criterion == "mallows-cp" and cp is not None else -(adjusted or 0.0)
        if best is None or score < least:
            best = Chosen(subset, adjusted, cp, noise, subsets.exhaustive)
            least = score
    assert best is not None, "there is always the subset of size 0"
    return best
