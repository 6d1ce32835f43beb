"""ReBench's data file, read."""

from __future__ import annotations

from steelyard.store.harness_experiment import harness_format

EXTENSION = harness_format(
    "rebench",
    suffixes=(),
    description="ReBench's data file: a variant a benchmark, a trial an invocation.",
)
