"""Percentage of the benchmark's instructions in functions with a changed loop."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator, share_of


def _value(evidence: Evidence) -> float:
    return share_of(evidence.reached, evidence.change.loops)


EXTENSION = Indicator(
    name="hot-loop-changed",
    description="Percentage of the benchmark's instructions in functions with a changed loop.",
    value=_value,
    needs="instructions",
)
