"""The factors that experiments can vary. One factor is one file with an `EXTENSION`."""

from __future__ import annotations

from steelyard.core.registry import Registry
from steelyard.factors.factor import Factor

FACTORS: Registry[Factor] = Registry("factor", "steelyard.factors.kinds", "steelyard.factors")
