"""Renaissance's JSON and CSV, read."""

from __future__ import annotations

from steelyard.store.harness_experiment import harness_format

EXTENSION = harness_format(
    "renaissance",
    suffixes=(),
    description="Renaissance's JSON or CSV: a variant a benchmark, one execution each.",
)
