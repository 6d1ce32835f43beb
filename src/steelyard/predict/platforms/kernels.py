"""How alike hosts are, by their benchmarks: kernels for prediction across hosts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from steelyard.predict.arrays import Floats

# Noise beside a kernel whose mean variance is 1: from repeatable tables to noisy ones.
NUGGETS = (0.003, 0.03, 0.2)
# Lengths of the Gaussian kernel, in units of the typical distance between hosts.
LENGTHS = (0.3, 1.0)


@dataclass(frozen=True)
class HostKernel:
    """A way to predict across hosts, for a batch of suites.

    Parameters
    ----------
    name : str
    prior : array, shape (..., h)
        The cost expected before anything is known of the application, up to a constant.
    kernel : array, shape (..., h, h)
        Covariance of what remains, of mean variance 1.
    nugget : float
        Variance of the noise in the same unit.
    """

    name: str
    prior: Floats
    kernel: Floats
    nugget: float


def host_kernels(suite: Floats) -> Iterator[HostKernel]:
    """The kernels that `predict_by_stacking` chooses among.

    Parameters
    ----------
    suite : array, shape (..., h, b)
        Costs of benchmarks on hosts.

    Notes
    -----
    `level` kernels let the application depend on the benchmarks' costs at any slope: with a
    linear kernel this is ridge regression on the whole suite. `profile` kernels expect it to
    follow the suite's mean and explain what remains by the hosts' profiles: what each benchmark
    costs there beside the mean. Their Gaussian and exponential forms weigh hosts by likeness.
    """
    level = suite - suite.mean(axis=-2, keepdims=True)
    nothing = np.zeros(suite.shape[:-1])
    linear = _unit(level @ np.swapaxes(level, -1, -2))
    for nugget in NUGGETS:
        yield HostKernel(f"level-linear-{nugget}", nothing, linear, nugget)
    mean = suite.mean(axis=-1)
    profile = profiles(suite)
    linear = _unit(profile @ np.swapaxes(profile, -1, -2))
    for nugget in NUGGETS:
        yield HostKernel(f"profile-linear-{nugget}", mean, linear, nugget)
    squared = squared_distances(linear) / 2
    for length in LENGTHS:
        gaussian = np.exp(-squared / (2 * length**2))
        yield HostKernel(f"profile-gaussian-{length}", mean, gaussian, NUGGETS[0])
    exponential = np.exp(-np.sqrt(squared))
    yield HostKernel("profile-exponential", mean, exponential, NUGGETS[0])
    mixed = (linear + exponential) / 2
    for nugget in NUGGETS[:2]:
        yield HostKernel(f"profile-mixed-{nugget}", mean, mixed, nugget)


def profiles(suite: Floats) -> Floats:
    """Costs less the host's mean and less the benchmark's, shape (..., h, b)."""
    rest = suite - suite.mean(axis=-1, keepdims=True)
    return rest - rest.mean(axis=-2, keepdims=True)


def squared_distances(inner: Floats) -> Floats:
    """Squared distances from inner products, shape (..., h, h)."""
    own = np.einsum("...ii->...i", inner)
    return np.maximum(own[..., :, None] + own[..., None, :] - 2 * inner, 0.0)


def _unit(kernel: Floats) -> Floats:
    """The kernel over its mean variance; as it is where that is 0."""
    size = np.einsum("...ii->...i", kernel).mean(axis=-1)[..., None, None]
    return kernel / np.where(size > 0, size, 1.0)
