"""Percentage of the benchmark's instructions in changed functions."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator, share_of


def _value(evidence: Evidence) -> float:
    return share_of(evidence.reached, evidence.change.changed)


EXTENSION = Indicator(
    name="changed-share",
    description="Percentage of the benchmark's instructions in changed functions.",
    value=_value,
    needs="instructions",
)
