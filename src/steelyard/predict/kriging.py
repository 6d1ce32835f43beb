"""Best linear unbiased prediction from a kernel, for many responses at once.

A response is an unknown constant plus a Gaussian process over points whose covariance the kernel
gives up to a factor, plus noise (universal kriging with a constant: Cressie 1993, section 3.4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.predict.arrays import Floats

# A response that lacks a value has it with this much noise: it then weighs nothing.
NOISE_OF_MISSING = 1e9


@dataclass(frozen=True)
class Kriged:
    """Predictions of a batch of responses.

    Parameters
    ----------
    values : array, shape (..., h)
        The prediction at each point.
    left_out : array, shape (..., h)
        Observed less predicted where each observed point is left out; NaN where none is observed.
    """

    values: Floats
    left_out: Floats


def krige(kernel: Floats, response: Floats, nugget: float) -> Kriged:
    """Predict each response at every point from the points where it is observed.

    Parameters
    ----------
    kernel : array, shape (..., h, h)
        Covariance of the process, a common factor left out.
    response : array, shape (..., h)
        NaN where it is not observed; observed somewhere.
    nugget : float
        Variance of the noise, in the kernel's unit; above 0.
    """
    observed = np.isfinite(response)
    known = np.flatnonzero(observed.reshape(-1, observed.shape[-1]).any(axis=0))
    here = observed[..., known]
    noise = np.where(here, nugget, NOISE_OF_MISSING)
    covariance = kernel[..., known[:, None], known] + noise[..., None] * np.eye(len(known))
    inverse = np.linalg.inv(covariance)
    values = np.where(here, response[..., known], 0.0)
    total = inverse.sum(axis=-1)
    whole = total.sum(axis=-1)[..., None]
    # What is left of the precision once the constant is estimated.
    projected = inverse - total[..., :, None] * (total / whole)[..., None, :]
    weights = np.einsum("...ij,...j->...i", projected, values)
    constant = (total * values).sum(axis=-1)[..., None] / whole
    predicted = constant + np.einsum("...hk,...k->...h", kernel[..., :, known], weights)
    left_out = np.full(response.shape, np.nan)
    pivots = np.einsum("...ii->...i", projected)
    usable = here & (here.sum(axis=-1) > 1)[..., None]
    left_out[..., known] = np.where(usable, weights / np.where(usable, pivots, 1.0), np.nan)
    return Kriged(predicted, left_out)
