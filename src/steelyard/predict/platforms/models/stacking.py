"""Average of models, weighted by how each predicts the suite itself."""

from __future__ import annotations

from steelyard.predict.platforms.platform_model import PlatformModel
from steelyard.predict.platforms.stacked_models import predict_by_stacking

EXTENSION = PlatformModel(
    name="stacking",
    description="Average of models, weighted by how each predicts the suite itself.",
    predict=predict_by_stacking,
    least_known=3,
    needs="suite",
    origin="beyond",
)
