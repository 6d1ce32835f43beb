"""k6's JSON lines, read."""

from __future__ import annotations

from steelyard.store.harness_experiment import harness_format

EXTENSION = harness_format(
    "k6",
    suffixes=(),
    description="k6's JSON lines: a variant a scenario, its iterations and other trends.",
)
