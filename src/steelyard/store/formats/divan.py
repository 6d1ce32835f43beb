"""divan's table, read."""

from __future__ import annotations

from steelyard.store.harness_experiment import harness_format

EXTENSION = harness_format(
    "divan",
    suffixes=(),
    description="divan's table: a variant a benchmark with the mean of its samples.",
)
