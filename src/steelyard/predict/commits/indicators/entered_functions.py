"""How many new functions the benchmark comes to."""

from __future__ import annotations

from steelyard.predict.commits.edit_executions import entered_functions
from steelyard.predict.commits.indicator import Evidence, Indicator


def _value(evidence: Evidence) -> float:
    return float(len(entered_functions(evidence)))


EXTENSION = Indicator(
    name="entered-functions",
    description="How many new functions the benchmark comes to.",
    value=_value,
    needs="addresses",
)
