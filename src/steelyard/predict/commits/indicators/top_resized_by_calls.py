"""Highest rank by calls of a function whose length changed by 10 % or more."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator, top_rank

# Oliveira 2015, table 6.2.
_LEAST_PERCENT = 10.0


def _value(evidence: Evidence) -> float:
    change = evidence.change
    resized = [one for one in change.changed if change.length_change(one) >= _LEAST_PERCENT]
    return top_rank(evidence.reached.calls, resized)


EXTENSION = Indicator(
    name="top-resized-by-calls",
    description="Highest rank by calls of a function whose length changed by 10 % or more.",
    value=_value,
    needs="calls",
    origin="table 6.2",
)
