"""Why the bootstrap is studentised, and why what lies below the top level is not redrawn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.prove.judging import Tally
from benchmarks.prove.time_populations import POPULATIONS
from steelyard.core.rng import derive_seed

Array = NDArray[np.float64]
BUILDS, EXECUTIONS, RESAMPLES = 10, 5, 999
SCHEMES = ("studentised, builds", "percentile, builds", "percentile, builds and executions")
_BETWEEN_BUILDS = 0.01


def situations() -> Iterator[tuple[str]]:
    """Populations of executions; builds differ by 1 %."""
    yield from (("normal 5 %",), ("lognormal 20 %",))


def simulate(population: str, experiment_count: int) -> list[Tally]:
    """The mean of 10 builds of 5 executions each, by three schemes of resampling."""
    generator = np.random.default_rng(derive_seed(1, "resampling", population))
    tallies = {scheme: Tally(scheme, (population, "none", str(BUILDS))) for scheme in SCHEMES}
    for _ in range(experiment_count):
        builds = 1.0 + _BETWEEN_BUILDS * generator.standard_normal((BUILDS, 1))
        values = builds * POPULATIONS[population](generator, (BUILDS, EXECUTIONS))
        for scheme, (low, high) in _intervals(generator, values).items():
            tallies[scheme].add(low <= 1.0 <= high, False, BUILDS)
    return list(tallies.values())


def _intervals(generator: np.random.Generator, values: Array) -> dict[str, tuple[float, float]]:
    tops = values.mean(axis=1)
    chosen = generator.integers(0, BUILDS, (RESAMPLES, BUILDS))
    drawn = tops[chosen]
    means = drawn.mean(axis=1)
    statistics = (means - tops.mean()) / drawn.std(axis=1, ddof=1)
    upper, lower = np.quantile(statistics, (0.975, 0.025)) * tops.std(ddof=1)
    below = generator.integers(0, EXECUTIONS, (RESAMPLES, BUILDS, EXECUTIONS))
    redrawn = values[chosen[:, :, None], below].mean(axis=(1, 2))
    percentile, both = np.quantile(means, (0.025, 0.975)), np.quantile(redrawn, (0.025, 0.975))
    found = (
        (tops.mean() - float(upper), tops.mean() - float(lower)),
        (float(percentile[0]), float(percentile[1])),
        (float(both[0]), float(both[1])),
    )
    return dict(zip(SCHEMES, found, strict=True))
