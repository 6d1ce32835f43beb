"""The geometric mean of ratios over several programs, with one interval for it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import exp, fsum, inf, log, sqrt

from steelyard.analysis.comparison.experiment_intervals import Inference
from steelyard.analysis.comparison.unit_values import TopLevel, common_units
from steelyard.analysis.intervals.mean import mean_of, variance_of
from steelyard.analysis.intervals.paired_ratio import is_dependent
from steelyard.analysis.tests.independence import independence
from steelyard.core.estimate import Estimate, Interval, Unbounded

BLOCKS_METHOD = "log-delta-blocks"
UNPAIRED_METHOD = "log-delta-unpaired"

# Beyond it there is no float.
_LARGEST_LOGARITHM = log(sys.float_info.max)

Pair = tuple[TopLevel, TopLevel]


def geometric_mean(pairs: Sequence[Pair], inference: Inference) -> Interval:
    """The geometric mean of candidate / baseline over programs.

    Parameters
    ----------
    pairs : sequence of (baseline, candidate)
        The values of each program, at least two programs.
    inference : Inference
        Of the experiment: how intervals are made, and in which order trials were run.

    Returns
    -------
    Interval
        An `Unbounded` where a mean is not above 0, or fewer than two blocks hold all programs.

    Notes
    -----
    By the delta method. With x and y the means of baseline and candidate of program p, the
    logarithm of the geometric mean is the mean of ``log y_p - log x_p`` over the P programs, and
    its variation is to first order that of the mean over blocks b of::

        d_b = (1 / P) sum_p (y_pb / y_p - x_pb / x_p)

    whatever the correlation of programs and variants inside a block; the interval is that of a
    mean of d (Student's, n - 1 degrees of freedom, or what the experiment's method and the
    dependence of blocks ask for), moved to the logarithm's estimate and exponentiated. Where the
    variants were run apart, the variances of all means add up, and the degrees of freedom are
    Welch's (Biometrika 34 (1947) 28).

    The programs are fixed: the interval says nothing of other programs than these. It assumes
    that the relative variation of each mean is small (a few percent), so that the logarithm is
    about linear over it; tests hold its coverage for relative errors of single values up to 20 %.
    """
    means = [(mean_of(x.values), mean_of(y.values)) for x, y in pairs if x.values and y.values]
    confidence = inference.spec.confidence
    if len(means) < len(pairs) or any(x <= 0 or y <= 0 for x, y in means):
        return _unbounded(confidence)
    if inference.spec.order == "sequential":
        return _unpaired(pairs, inference)
    columns = common_units([level for pair in pairs for level in pair])
    logarithms = block_logarithms(columns) if columns[0] else []
    if len(logarithms) < 2:
        return _too_few(logarithms, confidence)
    found = inference.geometric_mean(logarithms, is_dependent(independence(logarithms)))
    if isinstance(found, Unbounded):
        return _too_few(logarithms, confidence)
    method = BLOCKS_METHOD if found.method.startswith("student") else f"log-{found.method}"
    return _of_logarithm(mean_of(logarithms), found.low, found.high, confidence, method)


def block_logarithms(columns: Sequence[Sequence[float]]) -> list[float]:
    """A value a block, whose mean is the logarithm of the geometric mean, and whose variation
    is, to first order, that of the logarithm.

    Parameters
    ----------
    columns : sequence of sequence of float
        Baseline and candidate of the first program, of the second, and so on, all over the same
        blocks; the mean of each is above 0.
    """
    means = [mean_of(column) for column in columns]
    count = len(columns) // 2
    centre = fsum(log(means[i + 1]) - log(means[i]) for i in range(0, 2 * count, 2)) / count
    return [
        centre
        + fsum(row[i + 1] / means[i + 1] - row[i] / means[i] for i in range(0, 2 * count, 2))
        / count
        for row in zip(*columns, strict=True)
    ]


def _unpaired(pairs: Sequence[Pair], inference: Inference) -> Interval:
    """From variants that were run apart: relative variances of the means add up."""
    confidence = inference.spec.confidence
    parts: list[tuple[float, int]] = []
    estimate = 0.0
    for x, y in pairs:
        estimate += (log(mean_of(y.values)) - log(mean_of(x.values))) / len(pairs)
        for level in (x, y):
            values = level.values
            if len(values) < 2:
                return _too_few([estimate], confidence)
            relative = variance_of(values) / mean_of(values) ** 2 / len(values)
            parts.append((relative / len(pairs) ** 2, len(values) - 1))
    variance = fsum(part for part, _ in parts)
    below = fsum(part * part / degrees for part, degrees in parts)
    degrees = variance * variance / below if below > 0 else float(min(d for _, d in parts))
    quantile = inference.apart_quantile(degrees, min(d for _, d in parts) + 1)
    if quantile == inf:
        return _too_few([estimate], confidence)
    half_width = quantile * sqrt(variance)
    low, high = estimate - half_width, estimate + half_width
    return _of_logarithm(estimate, low, high, confidence, UNPAIRED_METHOD)


def _of_logarithm(
    estimate: float, low: float, high: float, confidence: float, method: str
) -> Interval:
    if high > _LARGEST_LOGARITHM:
        return Unbounded(
            exp(estimate),
            confidence,
            method,
            "too-wide",
            "The values vary so much that the geometric mean may be any number. Run more blocks.",
        )
    return Estimate(exp(estimate), exp(low), exp(high), confidence, method)


def _unbounded(confidence: float) -> Unbounded:
    return Unbounded(
        None,
        confidence,
        BLOCKS_METHOD,
        "no-values",
        "A program has no value, or a mean that is not above 0, whose ratio has no logarithm.",
    )


def _too_few(logarithms: Sequence[float], confidence: float) -> Unbounded:
    return Unbounded(
        exp(mean_of(logarithms)) if logarithms else None,
        confidence,
        BLOCKS_METHOD,
        "one-value",
        "Fewer than two blocks have a value of every program, so that nothing is known of how the "
        "geometric mean varies. Run more blocks.",
    )
