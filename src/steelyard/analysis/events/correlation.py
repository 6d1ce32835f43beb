"""Correlations with their intervals: of values, of ranks, and of differences between pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.table_distributions import t_quantile, t_two_sided_p
from steelyard.core.estimate import Estimate, Interval, Unbounded

Floats = NDArray[np.float64]
FEWEST_RUNS = 4
# With fewer runs a curved surface would leave little of the 36 pairs that nine have.
_FEWEST_CURVED = 10
# Its two-sided p has a standard error of 0.002 at 0.05.
PERMUTATION_COUNT = 9999
# Correlations nearer to 1 are perfect up to rounding.
_PERFECT = 1 - 1e-12
# Variances below this share of the mean square are rounding of sums.
_NO_VARIANCE = 1e-24
# Of permutations at once: some megabytes of matrices.
_BATCH = 256
_JACKKNIFE = "jackknife-fisher-z"


@dataclass(frozen=True)
class Correlation:
    """A coefficient with its interval, and the p value that there is none; None where a variable
    does not vary or too little was measured."""

    coefficient: Interval
    p: float | None


def pearson(x: Floats, y: Floats, confidence: float) -> Correlation:
    """Pearson's coefficient: how near to a line the points lie.

    Notes
    -----
    The interval is Fisher's, by ``atanh(r)`` with the variance ``1 / (n - 3)``; p is that of
    Student's t with n - 2 degrees. Runs are independent, and one of the variables normal.
    """
    refused = _refused(x, y, confidence, "fisher-z")
    if refused is not None:
        return refused
    r = _coefficient(x, y)
    p = 0.0 if abs(r) >= _PERFECT else _student_p(r, len(x))
    return Correlation(_fisher_interval(r, len(x), 1.0, confidence, "fisher-z"), p)


def spearman(x: Floats, y: Floats, confidence: float) -> Correlation:
    """Spearman's coefficient: Pearson's of the ranks, ties taking their mean.

    Notes
    -----
    The interval is Fisher's with the variance ``(1 + r^2 / 2) / (n - 3)`` (Bonett and Wright,
    Psychometrika 65 (2000) 23); p is that of Student's t with n - 2 degrees, of a coefficient that
    is less by half of the step between two that ranks can have (Kendall, Rank Correlation Methods,
    1970, chapter 4), since t alone raises 5.5 % of false alarms with ten runs. Of perfect order it
    is the share of orders that are perfect, 2 / n!.
    """
    refused = _refused(x, y, confidence, "bonett-wright")
    if refused is not None:
        return refused
    r, count = _coefficient(ranks(x), ranks(y)), len(x)
    interval = _fisher_interval(r, count, 1 + r * r / 2, confidence, "bonett-wright")
    if abs(r) >= _PERFECT:
        return Correlation(interval, 2 / factorial(count))
    half_step = 6 / (count**3 - count)
    return Correlation(interval, _student_p(max(0.0, abs(r) - half_step), count))


def pair_correlation(
    distances: Floats,
    values: Floats,
    confidence: float,
    generator: np.random.Generator,
    permutation_count: int = PERMUTATION_COUNT,
    given: Sequence[Floats] = (),
) -> Correlation:
    """Between a difference of pairs of runs and the difference of their results.

    Parameters
    ----------
    distances : array of shape (runs, runs)
        Symmetric.
    values : array
        The result of each run.
    confidence : float
    generator : numpy.random.Generator
    permutation_count : int
        Of the runs, for p.
    given : sequence of arrays of shape (runs, runs)
        Other differences of the same pairs: the correlation is that of what they leave of both.

    Notes
    -----
    With `given` it is the partial test of Smouse, Long and Sokal (Systematic Zoology 35 (1986)
    627): both differences are replaced by the residuals of their regressions on `given`, with its
    squares and products from ten runs on.
    Pairs that share a run are not independent. p is Mantel's (Cancer Research 27 (1967) 209): the
    share of permutations of the runs with a coefficient at least so far from 0. The interval is
    Fisher's with the jackknife's variance over runs (Efron and Stein, Annals of Statistics 9
    (1981) 586) and Student's t, its degrees those of a variance of values with such a kurtosis
    (O'Neill, American Statistician 68 (2014) 282): few runs that lie far off make most of it.
    """
    count = len(values)
    apart = np.abs(values[:, None] - values[None, :])
    if given and count >= FEWEST_RUNS:
        distances, apart = _left_by(given, distances), _left_by(given, apart)
    rows, columns = np.triu_indices(count, 1)
    refused = _refused(distances[rows, columns], apart[rows, columns], confidence, _JACKKNIFE)
    if refused is not None or count < FEWEST_RUNS + 1:
        return refused or _too_few(confidence, _JACKKNIFE)
    r = _coefficient(distances[rows, columns], apart[rows, columns])
    interval = _jackknife_interval(r, without_each(distances, apart), count, confidence)
    permuted = _permuted_coefficients(distances, apart, permutation_count, generator)
    extreme = int((np.abs(permuted) >= abs(r) - 1e-12).sum())
    return Correlation(interval, (extreme + 1) / (permutation_count + 1))


def _left_by(given: Sequence[Floats], distances: Floats) -> Floats:
    """The residuals of distances on the surface through those of other ones; 0 for rounding."""
    rows, columns = np.triu_indices(len(distances), 1)
    others, y = [one[rows, columns] for one in given], distances[rows, columns]
    scaled = [one / scale if (scale := float(np.abs(one).max())) > 0 else one for one in others]
    terms = [np.ones_like(y), *scaled]
    if len(distances) >= _FEWEST_CURVED:
        terms += [a * b for a, b in combinations_with_replacement(scaled, 2)]
    surface = np.column_stack(terms)
    left = y - surface @ np.linalg.lstsq(surface, y, rcond=None)[0]
    if float(left @ left) <= _NO_VARIANCE * float(y @ y):
        left = np.zeros_like(left)
    found = np.zeros_like(distances)
    found[rows, columns] = left
    return found + found.T


def _permuted_coefficients(
    distances: Floats, apart: Floats, permutation_count: int, generator: np.random.Generator
) -> Floats:
    """The coefficients between `distances` and `apart` with its runs in random orders."""
    count = len(apart)
    outside = ~np.eye(count, dtype=bool)
    x, y = (np.where(outside, m - m[outside].mean(), 0.0) for m in (distances, apart))
    below = float((x * x).sum() * (y * y).sum()) ** 0.5
    found: list[Floats] = []
    for start in range(0, permutation_count, _BATCH):
        size = min(_BATCH, permutation_count - start)
        order = generator.permuted(np.tile(np.arange(count), (size, 1)), axis=1)
        moved = y[order[:, :, None], order[:, None, :]]
        found.append(moved.reshape(size, -1) @ x.reshape(-1) / below)
    return np.concatenate(found)


def without_each(distances: Floats, apart: Floats) -> Floats:
    """The coefficient over the pairs without each run; not where these do not vary."""
    products = [distances, apart, distances**2, apart**2, distances * apart]
    sums = np.array([m.sum() / 2 - m.sum(axis=0) for m in products])
    pairs = (len(apart) - 1) * (len(apart) - 2) / 2
    x, y, xx, yy, xy = sums / pairs
    below = (xx - x * x) * (yy - y * y)
    varies = below > _NO_VARIANCE * xx * yy
    return ((xy - x * y)[varies] / below[varies] ** 0.5).clip(-1.0, 1.0)


def _jackknife_interval(r: float, left: Floats, count: int, confidence: float) -> Interval:
    """The interval of `r` from the coefficients without one run each."""
    if len(left) < count:
        explanation = "Without one of the runs all are alike: it alone makes the correlation."
        return Unbounded(r, confidence, _JACKKNIFE, "one-run-differs", explanation)
    off = np.arctanh(left.clip(-_PERFECT, _PERFECT))
    off = off - off.mean()
    square = float((off**2).mean())
    if square == 0:
        return Estimate(r, r, r, confidence, _JACKKNIFE)
    kurtosis = float((off**4).mean()) / square**2
    degrees = min(2 * count / (kurtosis - (count - 3) / (count - 1)), count - 1)
    half = t_quantile(0.5 + confidence / 2, degrees) * (square * (count - 1)) ** 0.5
    center = float(np.arctanh(np.clip(r, -_PERFECT, _PERFECT)))
    low, high = float(np.tanh(center - half)), float(np.tanh(center + half))
    return Estimate(r, min(low, r), max(high, r), confidence, _JACKKNIFE)


def ranks(values: Floats) -> Floats:
    """The rank of each value from 1 on; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place.reshape(-1)]


def _coefficient(x: Floats, y: Floats) -> float:
    a, b = x - x.mean(), y - y.mean()
    below = float((a @ a) * (b @ b)) ** 0.5
    return float(np.clip(float(a @ b) / below, -1.0, 1.0)) if below > 0 else 0.0


def _student_p(r: float, count: int) -> float:
    degrees = count - 2
    return t_two_sided_p(r * (degrees / (1 - r * r)) ** 0.5, degrees)


def _fisher_interval(
    r: float, count: int, variance: float, confidence: float, method: str
) -> Estimate:
    if abs(r) >= _PERFECT:
        return Estimate(r, r, r, confidence, method)
    half = t_quantile(0.5 + confidence / 2, float("inf")) * (variance / (count - 3)) ** 0.5
    center = float(np.arctanh(r))
    return Estimate(
        r, float(np.tanh(center - half)), float(np.tanh(center + half)), confidence, method
    )


def _refused(x: Floats, y: Floats, confidence: float, method: str) -> Correlation | None:
    if len(x) < FEWEST_RUNS:
        return _too_few(confidence, method)
    if np.ptp(x) > 0 and np.ptp(y) > 0:
        return None
    which = "The events do" if np.ptp(x) == 0 else "The results do"
    explanation = f"{which} not differ between runs: nothing goes with them."
    return Correlation(Unbounded(None, confidence, method, "no-variation", explanation), None)


def _too_few(confidence: float, method: str) -> Correlation:
    explanation = f"It takes {FEWEST_RUNS + 1} runs or more."
    return Correlation(Unbounded(None, confidence, method, "few-runs", explanation), None)
