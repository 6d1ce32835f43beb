"""How often changes of a changed, reached function came with changes of time."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator


def _value(evidence: Evidence) -> float:
    change, reached = evidence.change, evidence.reached.instructions
    names = (change.old.names[one] for one in change.changed if one in reached)
    return max((evidence.changed_before.get(name, 0.0) for name in names), default=0.0)


EXTENSION = Indicator(
    name="changed-before",
    description="How often changes of a changed, reached function came with changes of time.",
    value=_value,
    needs="history",
)
