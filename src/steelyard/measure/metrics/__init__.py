"""The metrics: one file each."""

from __future__ import annotations

from steelyard.core.registry import Registry
from steelyard.measure.metric import Metric

METRICS: Registry[Metric] = Registry("metric", "steelyard.measure.metrics", "steelyard.metrics")
