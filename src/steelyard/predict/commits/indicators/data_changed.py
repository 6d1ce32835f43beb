"""Percentage of the benchmark's instructions in functions whose data changed."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator, share_of


def _value(evidence: Evidence) -> float:
    return share_of(evidence.reached, evidence.change.data)


EXTENSION = Indicator(
    name="data-changed",
    description="Percentage of the benchmark's instructions in functions whose data changed.",
    value=_value,
    needs="instructions",
)
