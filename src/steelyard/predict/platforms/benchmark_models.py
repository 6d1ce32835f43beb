"""Models that explain an application by few benchmarks, chosen softly by how well each does.

The application is one benchmark's cost, at its own slope or as it is, up to a constant. Each
benchmark weighs by a power of its error on known hosts, so that a twin decides and where there is
none many share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from steelyard.predict.arrays import Floats, Truths
from steelyard.predict.kriging import Kriged

# Powers of a benchmark's mean square error by which its weight falls.
OFFSET_POWERS = (1.0, 2.0, 4.0)
SLOPE_POWERS = (2.0, 4.0)
# Below this share of what a good benchmark leaves, errors are noise.
NOISE_SHARE = 0.1
# So are those below this share of the suite's variance over hosts.
LEAST_SHARE = 1e-6
# A slope is drawn to 1 as by so much of a typical benchmark's sum of squares.
PRIOR_SHARE = 0.1
# A known host that nearly decides a slope alone is left out as one of this leverage.
MOST_LEVERAGE = 0.95
# What the arrays of one turn may hold: of more responses there are several turns.
MOST_CELLS = 1 << 21


@dataclass(frozen=True)
class BenchmarkFits:
    """What each benchmark alone makes of a response: arrays of shape (..., h, b).

    Parameters
    ----------
    values : array
    left_out : array
        The prediction at each known host from the others; 0 where the host is not known.
    errors : array, shape (..., b)
        Mean square errors, by which benchmarks are chosen.
    errors_without : array
        The same without each host.
    """

    values: Floats
    left_out: Floats
    errors: Floats
    errors_without: Floats


def benchmark_models(suite: Floats, response: Floats) -> Iterator[tuple[str, Kriged]]:
    """Names and predictions of the models, each from all known hosts and from all but each.

    Parameters
    ----------
    suite : array, shape (..., h, b)
        Costs of benchmarks on hosts.
    response : array, shape (..., h)
        Costs of the application; NaN where they are not known, known somewhere.
    """
    hosts, benchmarks = suite.shape[-2:]
    suites = suite.reshape(-1, hosts, benchmarks)
    responses = response.reshape(-1, hosts)
    step = max(1, MOST_CELLS // (hosts * benchmarks))
    found: dict[str, list[Kriged]] = {}
    for start in range(0, len(responses), step):
        turn = slice(start, start + step)
        for name, kriged in _models(suites[turn], responses[turn]):
            found.setdefault(name, []).append(kriged)
    for name, parts in found.items():
        values = np.concatenate([part.values for part in parts]).reshape(response.shape)
        left_out = np.concatenate([part.left_out for part in parts]).reshape(response.shape)
        yield name, Kriged(values, left_out)


def _models(suite: Floats, response: Floats) -> Iterator[tuple[str, Kriged]]:
    for kind, fits, powers in (
        ("benchmark-offset", fit_offsets(suite, response), OFFSET_POWERS),
        ("benchmark-slope", fit_slopes(suite, response), SLOPE_POWERS),
    ):
        for power in powers:
            yield f"{kind}-{power:g}", _average(fits, response, power)


def fit_offsets(suite: Floats, response: Floats) -> BenchmarkFits:
    """The application is a benchmark's cost and a constant; errors are variances."""
    here, known, count = _known(response)
    offsets = np.where(here, response[..., None] - suite, 0.0)
    total, squares = offsets.sum(axis=-2), (offsets**2).sum(axis=-2)
    mean = total / count
    variance = np.maximum(squares - count * mean**2, 0.0) / np.maximum(count - 1, 1)
    fewer = np.maximum(count - 1, 1)[..., None]
    mean_without = (total[..., None, :] - offsets) / fewer
    least = _least_variance(suite)
    rest = squares[..., None, :] - offsets**2 - fewer * mean_without**2
    variance_without = np.maximum(rest, 0.0) / np.maximum(fewer - 1, 1)
    return BenchmarkFits(
        suite + mean[..., None, :],
        np.where(known[..., None], suite + mean_without, 0.0),
        variance + np.maximum(_noise(variance), least),
        variance_without + np.maximum(_noise(variance_without), least[..., None, :]),
    )


def fit_slopes(suite: Floats, response: Floats) -> BenchmarkFits:
    """The application is a benchmark's cost times a slope near 1, and a constant.

    Ridge regression about a slope of 1; errors are those of hosts left out, by leverage (Allen
    1974), the constant of which is not shrunk.
    """
    here, known, count = _known(response)
    own = np.where(known, response, 0.0)[..., None]
    centre = np.where(here, suite, 0.0).sum(axis=-2) / count
    own_centre = own.sum(axis=-2) / count
    off = suite - centre[..., None, :]
    inside = np.where(here, off, 0.0)
    squares = (inside**2).sum(axis=-2)
    products = (inside * np.where(here, own - own_centre[..., None, :], 0.0)).sum(axis=-2)
    least = _least_variance(suite)
    prior = PRIOR_SHARE * np.median(squares, axis=-1, keepdims=True) + least * LEAST_SHARE
    slope = (products + prior) / (squares + prior)
    values = own_centre[..., None, :] + slope[..., None, :] * off
    leverage = 1 / count[..., None] + off**2 / (squares + prior)[..., None, :]
    errors = np.where(here, (own - values) / (1 - np.minimum(leverage, MOST_LEVERAGE)), 0.0)
    total = (errors**2).sum(axis=-2)
    return BenchmarkFits(
        values,
        np.where(here, own - errors, 0.0),
        total / count + least,
        np.maximum(total[..., None, :] - errors**2, 0.0) / count[..., None] + least[..., None, :],
    )


def _known(response: Floats) -> tuple[Truths, Truths, Floats]:
    """Known hosts over benchmarks (..., h, 1), known hosts (..., h), how many (..., 1)."""
    known = np.isfinite(response)
    return known[..., None], known, known.sum(axis=-1, keepdims=True).astype(np.float64)


def _least_variance(suite: Floats) -> Floats:
    """A variance that is nothing beside that of the suite over hosts, shape (..., 1)."""
    return LEAST_SHARE * suite.var(axis=-2).mean(axis=-1, keepdims=True)


def _noise(variance: Floats) -> Floats:
    """What errors of the best benchmarks are taken to be at least."""
    return NOISE_SHARE * np.quantile(variance, NOISE_SHARE, axis=-1, keepdims=True)


def _average(fits: BenchmarkFits, response: Floats, power: float) -> Kriged:
    weights = _shares(fits.errors, power)
    values = (fits.values * weights[..., None, :]).sum(axis=-1)
    without = (fits.left_out * _shares(fits.errors_without, power)).sum(axis=-1)
    known = np.isfinite(response)
    usable = known & (known.sum(axis=-1, keepdims=True) > 1)
    return Kriged(values, np.where(usable, response - without, np.nan))


def _shares(errors: Floats, power: float) -> Floats:
    """Weights that fall by a power of errors and sum to 1 over benchmarks."""
    weights = (errors / errors.min(axis=-1, keepdims=True)) ** -power
    return weights / weights.sum(axis=-1, keepdims=True)
