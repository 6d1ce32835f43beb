"""Mean of the known hosts, weighted by their likeness to each host."""

from __future__ import annotations

from steelyard.predict.platforms.model import PlatformModel
from steelyard.predict.platforms.similar_hosts import predict_by_likeness

EXTENSION = PlatformModel(
    name="similar-hosts",
    description="Mean of the known hosts, weighted by their likeness to each host.",
    predict=predict_by_likeness,
    least_known=3,
    needs="suite",
    origin="beyond",
)
