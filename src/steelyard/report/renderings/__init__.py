"""How results of analyses are shown: one file for each kind of result, by the name of the kind."""

from __future__ import annotations

from steelyard.core.registry import Registry
from steelyard.report.rendering import Rendering

RENDERINGS: Registry[Rendering] = Registry(
    "rendering", "steelyard.report.renderings", "steelyard.renderings"
)
