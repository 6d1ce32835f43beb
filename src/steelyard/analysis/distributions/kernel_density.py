"""The density of values, by a kernel whose bandwidth keeps modes apart."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.distributions.modes import density_bandwidth


def kernel_density(
    values: Sequence[float], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The density of `values` between the smallest and the largest of them.

    Parameters
    ----------
    values : sequence of float, shape (n,)
        Finite.
    count : int
        Places, evenly spaced.

    Returns
    -------
    places, densities : ndarray, shape (count,)
        Densities per unit of the values. None where nothing varies.

    Notes
    -----
    Normal kernels (Silverman, Density Estimation, 1986, equation 2.2a) with the bandwidth of
    `modes.density_bandwidth`.
    """
    bandwidth = density_bandwidth(values)
    if bandwidth is None:
        return None
    given = np.asarray(values, dtype=np.float64)
    places: NDArray[np.float64] = np.linspace(float(given.min()), float(given.max()), count)
    distances: NDArray[np.float64] = (places[:, None] - given[None, :]) / bandwidth
    sums: NDArray[np.float64] = np.exp(-0.5 * distances**2).sum(axis=1)
    return places, sums / (len(given) * bandwidth * sqrt(2 * pi))
