"""Percentage of the benchmark's instructions that have other operands."""

from __future__ import annotations

from steelyard.predict.commits.edit_executions import executed_edits, percent_of
from steelyard.predict.commits.indicator import Evidence, Indicator


def _value(evidence: Evidence) -> float:
    found = executed_edits(evidence)
    return percent_of(evidence, found.altered)


EXTENSION = Indicator(
    name="altered-operands",
    description="Percentage of the benchmark's instructions that have other operands.",
    value=_value,
    needs="addresses",
)
