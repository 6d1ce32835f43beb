"""criterion.rs's raw data, read."""

from __future__ import annotations

from steelyard.store.harness_experiment import harness_format

EXTENSION = harness_format(
    "criterion",
    suffixes=(),
    description="criterion.rs's raw.csv or sample.json: one execution, its samples are iterations.",
)
