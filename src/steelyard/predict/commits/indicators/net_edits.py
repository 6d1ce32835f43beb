"""By how many percent of the benchmark's instructions it has more, or fewer."""

from __future__ import annotations

from steelyard.predict.commits.edit_executions import executed_edits, percent_of
from steelyard.predict.commits.indicator import Evidence, Indicator


def _value(evidence: Evidence) -> float:
    found = executed_edits(evidence)
    return percent_of(evidence, abs(found.added - found.removed))


EXTENSION = Indicator(
    name="net-edits",
    description="By how many percent of the benchmark's instructions it has more, or fewer.",
    value=_value,
    needs="addresses",
)
