"""The randomisations of a build's layout: one file each."""

from __future__ import annotations

from steelyard.build.code_layout import Randomization
from steelyard.core.registry import Registry

RANDOMIZATIONS: Registry[Randomization] = Registry(
    "randomisation", "steelyard.build.randomizations", "steelyard.randomizations"
)
