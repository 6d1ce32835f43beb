"""JMH's JSON, read."""

from __future__ import annotations

from steelyard.store.harness_experiment import harness_format

EXTENSION = harness_format(
    "jmh",
    suffixes=(),
    description="JMH's JSON: a variant a benchmark with its parameters, a trial a fork.",
)
