"""Largest change of a function's length, in percent."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator


def _value(evidence: Evidence) -> float:
    change = evidence.change
    return max((change.length_change(one) for one in change.changed), default=0.0)


EXTENSION = Indicator(
    name="length-change",
    description="Largest change of a function's length, in percent.",
    value=_value,
    needs="programs",
    elsewhere=True,
    origin="table 6.2",
)
