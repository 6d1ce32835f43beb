"""Gaussian process over the hosts' profiles, by marginal likelihood."""

from __future__ import annotations

from steelyard.predict.platforms.host_gaussian_process import predict_by_likelihood
from steelyard.predict.platforms.platform_model import PlatformModel

EXTENSION = PlatformModel(
    name="gaussian-process",
    description="Gaussian process over the hosts' profiles, by marginal likelihood.",
    predict=predict_by_likelihood,
    least_known=3,
    needs="suite",
    origin="beyond",
)
