"""The ratio of two variants in every setup, and how much of its spread is noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.analysis.distributions.table_distributions import (
    f_upper_p,
    normal_lower_p,
    t_quantile,
    t_two_sided_p,
)
from steelyard.analysis.intervals.corrections import holm
from steelyard.analysis.tables.table_analysis import Test
from steelyard.core.estimate import Estimate, Interval, Unbounded

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

RATIO_METHOD = "ratio-setups"
CROSSED_METHOD = "ratio-crossed-setups"


@dataclass(frozen=True)
class SetupRatios:
    """One program in all its setups that have both variants.

    Parameters
    ----------
    program : str
    setups : array of int
        The setup of each entry below.
    baseline, candidate : array
        Mean response in each setup.
    ratios : array
        candidate / baseline.
    noise : array or None
        The standard error of each log ratio, from trials of one setup and variant; None where
        none was repeated.
    noise_degrees : float
        Of the pooled variance behind it.
    """

    program: str
    setups: Integers
    baseline: Floats
    candidate: Floats
    ratios: Floats
    noise: Floats | None
    noise_degrees: float


def setup_ratios(
    program: str,
    setup: Integers,
    variant: Integers,
    values: Floats,
    order: Floats | None = None,
) -> SetupRatios | None:
    """Group one program's trials by setup; None where no setup has both variants.

    Parameters
    ----------
    setup, variant, values : array
        One a trial; variant 0 is the baseline, 1 the candidate; values above 0.
    order : array or None
        When each trial was made, as numbers that grow.

    Notes
    -----
    Noise is taken to be alike on the scale of logarithms in all setups, and pooled. Where the
    order is known and each setup has as many trials of one variant as of the other, the k-th of
    both are a pair: what drifts hits both of them, and is no noise of their ratio.
    """
    count = int(setup.max()) + 1
    key = setup * 2 + variant
    counts = np.bincount(key, minlength=2 * count).astype(np.float64)
    logs = np.log(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (np.bincount(key, values, minlength=2 * count) / counts).reshape(-1, 2)
        log_means = np.bincount(key, logs, minlength=2 * count) / counts
    both = np.isfinite(means).all(axis=1)
    if not bool(both.any()):
        return None
    degrees = float(len(values) - int((counts > 0).sum()))
    noise = None
    if degrees > 0:
        variance = float(((logs - log_means[key]) ** 2).sum()) / degrees
        noise = np.sqrt(variance * (1.0 / counts.reshape(-1, 2)[both]).sum(axis=1))
        paired = None if order is None else _paired_noise(setup, variant, logs, order)
        if paired is not None:
            variance, degrees = paired
            noise = np.sqrt(variance / counts.reshape(-1, 2)[both, 0])
    kept = means[both]
    return SetupRatios(
        program,
        np.flatnonzero(both).astype(np.int64),
        kept[:, 0],
        kept[:, 1],
        kept[:, 1] / kept[:, 0],
        noise,
        degrees,
    )


def _paired_noise(
    setup: Integers, variant: Integers, logs: Floats, order: Floats
) -> tuple[float, float] | None:
    """The variance of one pair's log ratio within setups, and its degrees; None without pairs."""
    sides = [np.flatnonzero(variant == side) for side in (0, 1)]
    first, second = (rows[np.lexsort((order[rows], setup[rows]))] for rows in sides)
    if len(first) != len(second) or bool((setup[first] != setup[second]).any()):
        return None
    differences = logs[second] - logs[first]
    _, place = np.unique(setup[first], return_inverse=True)
    place = place.reshape(-1)
    counts = np.bincount(place)
    degrees = float(len(differences) - len(counts))
    if degrees <= 0:
        return None
    left = differences - (np.bincount(place, differences) / counts)[place]
    return float(left @ left) / degrees, degrees


def ratio_over_setups(found: SetupRatios, parts: Sequence[Integers], confidence: float) -> Interval:
    """The ratio of the means over setups, each setup being one draw.

    Parameters
    ----------
    found : SetupRatios
    parts : sequence of array of int
        For each part that setups are composed of (link order, environment size) the level of
        each entry of `found`. With several whose levels recur, setups are crossed: those that
        share a level do not count as independent.
    confidence : float

    Notes
    -----
    The delta method on the contrast ``y - r x`` over setups; Mytkowicz (2010), section 4.6.1.2,
    has Student's interval of the same. For crossed setups the variance is that of two-way
    clusters (Cameron, Gelbach and Miller, Journal of Business & Economic Statistics 29 (2011)
    238), with the degrees of the part with fewer levels.
    """
    count = len(found.ratios)
    ratio = float(found.candidate.mean() / found.baseline.mean())
    if count < 2:
        return Unbounded(
            ratio, confidence, RATIO_METHOD, "one-setup",
            "One setup says nothing of what another would give. Randomise the setup.",
        )  # fmt: skip
    contrasts = (found.candidate - ratio * found.baseline) / float(found.baseline.mean())
    crossed = [part for part in parts if int(np.bincount(part).max()) > 1]
    if len(parts) == 2 and len(crossed) == 2:
        sizes = [len(np.unique(part)) for part in crossed]
        variance = sum(_cluster_variance(contrasts, part) for part in crossed)
        variance -= _cluster_variance(contrasts, np.arange(count))
        variance = max(variance, *(_cluster_variance(contrasts, part) for part in crossed))
        degrees, method = float(min(sizes) - 1), CROSSED_METHOD
    else:
        variance = float(contrasts @ contrasts) / (count - 1) / count
        degrees, method = float(count - 1), RATIO_METHOD
    half = t_quantile(0.5 + confidence / 2, degrees) * sqrt(variance)
    return Estimate(ratio, ratio - half, ratio + half, confidence, method)


def _cluster_variance(contrasts: Floats, part: Integers) -> float:
    """The variance of their mean when those of one cluster vary together."""
    _, place = np.unique(part, return_inverse=True)
    sums = np.bincount(place.reshape(-1), contrasts)
    size = len(sums)
    return float(sums @ sums) / len(contrasts) ** 2 * size / (size - 1)


def share_below(found: SetupRatios, confidence: float) -> Estimate:
    """The share of setups whose ratio is below 1 (E. B. Wilson, J. Amer. Statist. Assoc. 22
    (1927) 209)."""
    count = len(found.ratios)
    share = float((found.ratios < 1).mean())
    square = normal_quantile(0.5 + confidence / 2) ** 2
    centre = (share + square / (2 * count)) / (1 + square / count)
    half = sqrt(square * (share * (1 - share) / count + square / (4 * count * count)))
    half /= 1 + square / count
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return Estimate(share, min(low, share), max(high, share), confidence, "wilson")


def setups_differ(found: SetupRatios) -> Test | None:
    """Whether the log ratio differs between setups by more than noise; None without repetition."""
    if found.noise is None or len(found.ratios) < 2 or not bool((found.noise > 0).all()):
        return None
    logs = np.log(found.ratios)
    weights = 1.0 / found.noise**2
    centre = float(weights @ logs / weights.sum())
    degrees = (float(len(logs) - 1), found.noise_degrees)
    statistic = float(weights @ (logs - centre) ** 2) / degrees[0]
    return Test(
        f"setups differ: {found.program}", statistic, degrees, f_upper_p(statistic, *degrees)
    )


@dataclass(frozen=True)
class Flip:
    """Whether the sign of a comparison depends on the setup.

    Parameters
    ----------
    below, above : int
        Setups on each side of 1.
    surely_below, surely_above : int or None
        Setups whose own trials say so, at the level of all setups together (Holm); None without
        repetition.
    between : float or None
        The standard deviation of the log ratio between setups, without noise.
    predicted_share : float or None
        Of all setups, those on the other side than the mean, from a normal distribution of the
        log ratio between setups.
    """

    below: int
    above: int
    surely_below: int | None
    surely_above: int | None
    between: float | None
    predicted_share: float | None

    @property
    def flips(self) -> bool | None:
        """True: setups on both sides beyond noise. None: on both sides, but noise may do that."""
        if not self.below or not self.above:
            return False
        if self.surely_below is None or self.surely_above is None:
            return None
        return True if self.surely_below and self.surely_above else None


def sign_flip(found: SetupRatios, confidence: float) -> Flip:
    """Look at every setup by itself, and at what they vary by together."""
    logs = np.log(found.ratios)
    below, above = int((logs < 0).sum()), int((logs > 0).sum())
    if found.noise is None or len(logs) < 2:
        return Flip(below, above, None, None, None, None)
    errors = np.maximum(found.noise, 1e-300)
    p = holm([t_two_sided_p(float(z), found.noise_degrees) for z in logs / errors])
    sure = np.array(p) < 1 - confidence
    variance = max(0.0, float(logs.var(ddof=1)) - float((found.noise**2).mean()))
    between = sqrt(variance)
    centre = abs(float(logs.mean()))
    share = float(normal_lower_p(np.array([-centre / between]))[0]) if between > 0 else 0.0
    return Flip(
        below, above, int((sure & (logs < 0)).sum()), int((sure & (logs > 0)).sum()), between, share
    )
