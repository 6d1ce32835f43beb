"""Functions of the old version that are gone."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator


def _value(evidence: Evidence) -> float:
    return len(evidence.change.deleted)


EXTENSION = Indicator(
    name="deleted-functions",
    description="Functions of the old version that are gone.",
    value=_value,
    needs="programs",
    elsewhere=True,
    origin="table 6.2",
)
