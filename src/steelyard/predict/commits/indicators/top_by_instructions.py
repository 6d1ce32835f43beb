"""Highest rank of a changed function by instructions executed."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator, top_rank


def _value(evidence: Evidence) -> float:
    return top_rank(evidence.reached.instructions, evidence.change.changed)


EXTENSION = Indicator(
    name="top-by-instructions",
    description="Highest rank of a changed function by instructions executed.",
    value=_value,
    needs="instructions",
    origin="table 6.2",
)
