"""The lines of the DaCapo harness, read."""

from __future__ import annotations

from steelyard.store.harness_experiment import harness_format

EXTENSION = harness_format(
    "dacapo",
    suffixes=(),
    description="What the DaCapo harness prints: a variant a benchmark, a trial an execution.",
)
