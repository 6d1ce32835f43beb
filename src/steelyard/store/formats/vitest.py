"""vitest's JSON of benchmarks, read."""

from __future__ import annotations

from steelyard.store.harness_experiment import harness_format

EXTENSION = harness_format(
    "vitest",
    suffixes=(),
    description="vitest's JSON of benchmarks: a variant a benchmark, its samples are iterations.",
)
