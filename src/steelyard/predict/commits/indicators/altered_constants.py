"""How many instructions that the benchmark executes have another constant."""

from __future__ import annotations

from steelyard.predict.commits.edit_executions import altered_constants
from steelyard.predict.commits.indicator import Evidence, Indicator


def _value(evidence: Evidence) -> float:
    return float(altered_constants(evidence))


EXTENSION = Indicator(
    name="altered-constants",
    description="How many instructions that the benchmark executes have another constant.",
    value=_value,
    needs="addresses",
)
