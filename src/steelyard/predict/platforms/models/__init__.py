"""The platform models: one file each, defining ``EXTENSION``, a `PlatformModel`.

The calculation itself lies beside this folder. tests/contracts runs over every one.
"""

from __future__ import annotations

from steelyard.core.registry import Registry
from steelyard.predict.platforms.platform_model import PlatformModel

PLATFORM_MODELS: Registry[PlatformModel] = Registry(
    "platform model", "steelyard.predict.platforms.models", "steelyard.platform_models"
)
