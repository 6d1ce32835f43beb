"""tinybench's tasks as JSON, read."""

from __future__ import annotations

from steelyard.store.harness_experiment import harness_format

EXTENSION = harness_format(
    "tinybench",
    suffixes=(),
    description="tinybench's tasks as JSON: a variant a task, its samples are iterations.",
)
