"""What may be asked of a table of times, and of which models."""

from __future__ import annotations

from steelyard.predict.platforms.model_evaluation import EvaluationDesign
from steelyard.predict.platforms.platform_answers import Asked
from steelyard.predict.platforms.refusal import Limits

__all__ = ["Asked", "EvaluationDesign", "Limits", "model_names"]


def model_names() -> list[str]:
    """The names of all platform models."""
    from steelyard.predict.platforms.models import PLATFORM_MODELS

    return PLATFORM_MODELS.names()
