"""Catch2's XML, read."""

from __future__ import annotations

from steelyard.store.harness_experiment import harness_format

EXTENSION = harness_format(
    "catch2",
    suffixes=(),
    description="Catch2's XML: a variant a benchmark with the mean of its samples.",
)
