"""Mean of the known hosts, weighted by their likeness to each host."""

from __future__ import annotations

from steelyard.predict.platforms.host_likeness import predict_by_likeness
from steelyard.predict.platforms.platform_model import PlatformModel

EXTENSION = PlatformModel(
    name="similar-hosts",
    description="Mean of the known hosts, weighted by their likeness to each host.",
    predict=predict_by_likeness,
    least_known=3,
    needs="suite",
    origin="beyond",
)
