"""nanobench's JSON, read."""

from __future__ import annotations

from steelyard.store.harness_experiment import harness_format

EXTENSION = harness_format(
    "nanobench",
    suffixes=(),
    description="nanobench's JSON: a variant a benchmark, one execution of epochs.",
)
