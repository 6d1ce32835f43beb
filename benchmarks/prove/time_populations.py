"""Populations that simulated times come from, and drifts of the machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Sampler = Callable[[np.random.Generator, tuple[int, ...]], Array]


def normal(variation: float) -> Sampler:
    """Normal times with mean 1 and this coefficient of variation."""
    return lambda generator, shape: 1.0 + variation * generator.standard_normal(shape)


def lognormal(variation: float) -> Sampler:
    """Lognormal times with mean 1 and this coefficient of variation."""
    square = log(1.0 + variation * variation)
    return lambda generator, shape: np.exp(
        sqrt(square) * generator.standard_normal(shape) - square / 2
    )


def bimodal(slow_share: float, distance: float = 0.1, variation: float = 0.01) -> Sampler:
    """Two normal modes, the slow one `distance` above the fast; mean 1."""

    def sample(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        slow = generator.random(shape) < slow_share
        return 1.0 + distance * (slow - slow_share) + variation * generator.standard_normal(shape)

    return sample


def outliers(share: float, distance: float = 0.3, variation: float = 0.01) -> Sampler:
    """Normal times of which a small share takes `distance` longer; mean 1."""

    def sample(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        slow = generator.random(shape) < share
        times = (1.0 + variation * generator.standard_normal(shape)) * (1.0 + distance * slow)
        return times / (1.0 + distance * share)

    return sample


POPULATIONS: Mapping[str, Sampler] = {
    "normal 5 %": normal(0.05),
    "lognormal 5 %": lognormal(0.05),
    "lognormal 20 %": lognormal(0.20),
    "lognormal 50 %": lognormal(0.50),
    "bimodal 50/50": bimodal(0.5),
    "bimodal 80/20": bimodal(0.2),
    "5 % outliers": outliers(0.05),
}

# The coefficient of variation of each.
VARIATIONS: Mapping[str, float] = {
    "normal 5 %": 0.05,
    "lognormal 5 %": 0.05,
    "lognormal 20 %": 0.20,
    "lognormal 50 %": 0.50,
    "bimodal 50/50": sqrt(0.1**2 * 0.25 + 0.01**2),
    "bimodal 80/20": sqrt(0.1**2 * 0.16 + 0.01**2),
    "5 % outliers": sqrt(0.3**2 * 0.05 * 0.95 + 0.01**2) / 1.015,
}

# Where a population has two kinds of run: the time that parts them, and the mean of each.
KINDS: Mapping[str, tuple[float, float, float]] = {
    "bimodal 50/50": (1.0, 0.95, 1.05),
    "bimodal 80/20": (1.03, 0.98, 1.08),
    "5 % outliers": (1.13, 1.0 / 1.015, 1.3 / 1.015),
}


def mean_of_seen(population: str, values: Sequence[float]) -> float:
    """The mean of the kinds of run that are among the values; of all kinds it is 1."""
    if population not in KINDS:
        return 1.0
    limit, fast, slow = KINDS[population]
    slow_count = sum(value > limit for value in values)
    if slow_count == 0:
        return fast
    return slow if slow_count == len(values) else 1.0


def no_drift(generator: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Every block alike."""
    return np.ones(shape)


def linear(generator: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Ten percent slower from the first block to the last."""
    return np.broadcast_to(np.linspace(0.95, 1.05, shape[1]), shape)


def random_walk(generator: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Steps of 1 % from block to block."""
    return np.exp(0.01 * np.cumsum(generator.standard_normal(shape), axis=1))


def autoregressive(generator: np.random.Generator, shape: tuple[int, int]) -> Array:
    """A stationary disturbance of 5 % that keeps 0.7 of itself from block to block; mean 1."""
    kept, deviation = 0.7, 0.05
    noise = generator.standard_normal(shape)
    drift = np.empty(shape)
    drift[:, 0] = noise[:, 0]
    for block in range(1, shape[1]):
        drift[:, block] = kept * drift[:, block - 1] + sqrt(1 - kept**2) * noise[:, block]
    return 1.0 + deviation * drift


DRIFTS: Mapping[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "none": no_drift,
    "linear": linear,
    "random walk": random_walk,
    "AR(1)": autoregressive,
}
