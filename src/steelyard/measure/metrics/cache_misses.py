"""Misses of the last level of the cache, as the CPU defines them."""

from __future__ import annotations

from steelyard.measure.metric import Metric, counter_value

EXTENSION = Metric(
    name="cache_misses",
    unit="count",
    description="Misses of the last level of the cache, as the CPU defines them.",
    value=counter_value("cache-misses"),
    counter="cache-misses",
)
