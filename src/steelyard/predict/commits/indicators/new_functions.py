"""Functions of the new version that the old one has not."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator


def _value(evidence: Evidence) -> float:
    return len(evidence.change.added)


EXTENSION = Indicator(
    name="new-functions",
    description="Functions of the new version that the old one has not.",
    value=_value,
    needs="programs",
    elsewhere=True,
    origin="table 6.2",
)
