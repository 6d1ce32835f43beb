"""Highest rank of a changed function by an event, such as cache misses."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator, top_rank


def _value(evidence: Evidence) -> float:
    return top_rank(evidence.reached.events, evidence.change.changed)


EXTENSION = Indicator(
    name="top-by-events",
    description="Highest rank of a changed function by an event, such as cache misses.",
    value=_value,
    needs="events",
    origin="table 6.2",
)
