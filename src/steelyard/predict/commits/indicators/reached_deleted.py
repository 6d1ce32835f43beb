"""Functions that the benchmark reached and that are gone."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator


def _value(evidence: Evidence) -> float:
    gone = evidence.change.deleted
    return sum(1 for function in evidence.reached.instructions if function in gone)


EXTENSION = Indicator(
    name="reached-deleted",
    description="Functions that the benchmark reached and that are gone.",
    value=_value,
    needs="instructions",
    origin="table 6.2",
)
