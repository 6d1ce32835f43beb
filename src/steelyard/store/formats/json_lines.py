"""Steelyard's JSON lines, read."""

from __future__ import annotations

from steelyard.store.harness_experiment import harness_format

EXTENSION = harness_format(
    "json-lines",
    suffixes=(),
    description="JSON lines as programs write them for --iterations: one execution.",
)
