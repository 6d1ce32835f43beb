"""The indicators: one file each, defining ``EXTENSION``, an `Indicator`.

tests/contracts runs over every one.
"""

from __future__ import annotations

from steelyard.core.registry import Registry
from steelyard.predict.commits.indicator import Indicator

INDICATORS: Registry[Indicator] = Registry(
    "indicator", "steelyard.predict.commits.indicators", "steelyard.indicators"
)
