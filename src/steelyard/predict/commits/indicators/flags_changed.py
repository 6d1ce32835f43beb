"""Parameters of compilers, and libraries, that differ."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator


def _value(evidence: Evidence) -> float:
    return len(evidence.change.flags)


EXTENSION = Indicator(
    name="flags-changed",
    description="Parameters of compilers, and libraries, that differ.",
    value=_value,
    needs="programs",
)
