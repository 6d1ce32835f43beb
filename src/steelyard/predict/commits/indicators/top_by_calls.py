"""Highest rank of a changed function by how often it is called."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator, top_rank


def _value(evidence: Evidence) -> float:
    return top_rank(evidence.reached.calls, evidence.change.changed)


EXTENSION = Indicator(
    name="top-by-calls",
    description="Highest rank of a changed function by how often it is called.",
    value=_value,
    needs="calls",
    origin="table 6.2",
)
