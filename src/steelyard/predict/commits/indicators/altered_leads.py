"""Percentage of the benchmark's instructions that lead elsewhere, or refer to other things."""

from __future__ import annotations

from steelyard.predict.commits.edit_executions import altered_leads, percent_of
from steelyard.predict.commits.indicator import Evidence, Indicator


def _value(evidence: Evidence) -> float:
    return percent_of(evidence, altered_leads(evidence))


EXTENSION = Indicator(
    name="altered-leads",
    description="Percentage of the benchmark's instructions that lead elsewhere, or refer to other "
    "things.",
    value=_value,
    needs="addresses",
)
