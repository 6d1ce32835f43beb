"""pytest-benchmark's JSON, read."""

from __future__ import annotations

from steelyard.store.harness_experiment import harness_format

EXTENSION = harness_format(
    "pytest-benchmark",
    suffixes=(),
    description="pytest-benchmark's JSON: a variant a benchmark, one execution of rounds.",
)
