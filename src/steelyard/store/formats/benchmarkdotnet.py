"""BenchmarkDotNet's JSON, read."""

from __future__ import annotations

from steelyard.store.harness_experiment import harness_format

EXTENSION = harness_format(
    "benchmarkdotnet",
    suffixes=(),
    description="BenchmarkDotNet's JSON: a variant a benchmark, a trial a launch.",
)
