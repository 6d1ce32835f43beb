"""Highest rank of a reached function that now calls a changed or new one."""

from __future__ import annotations

from steelyard.predict.commits.indicator import Evidence, Indicator, top_rank


def _value(evidence: Evidence) -> float:
    change = evidence.change
    reached = evidence.reached.instructions
    other = {change.partner[one] for one in change.changed if one in reached} | change.added
    callers = [
        function
        for function in reached
        if change.partner[function] >= 0
        and not other.isdisjoint(change.new.callees(change.partner[function]))
    ]
    return top_rank(reached, callers)


EXTENSION = Indicator(
    name="calls-changed",
    description="Highest rank of a reached function that now calls a changed or new one.",
    value=_value,
    needs="instructions",
)
