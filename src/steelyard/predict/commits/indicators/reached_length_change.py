"""Largest change of the length of a reached function, in percent."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator


def _value(evidence: Evidence) -> float:
    change, reached = evidence.change, evidence.reached.instructions
    return max((change.length_change(one) for one in change.changed if one in reached), default=0.0)


EXTENSION = Indicator(
    name="reached-length-change",
    description="Largest change of the length of a function that the benchmark reached.",
    value=_value,
    needs="instructions",
    origin="table 6.2",
)
