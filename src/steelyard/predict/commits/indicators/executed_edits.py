"""Percentage of the benchmark's instructions that are gone or new."""

from __future__ import annotations

from steelyard.predict.commits.edit_executions import executed_edits, percent_of
from steelyard.predict.commits.indicator import Evidence, Indicator


def _value(evidence: Evidence) -> float:
    found = executed_edits(evidence)
    return percent_of(evidence, found.removed + found.added)


EXTENSION = Indicator(
    name="executed-edits",
    description="Percentage of the benchmark's instructions that are gone or new.",
    value=_value,
    needs="addresses",
)
