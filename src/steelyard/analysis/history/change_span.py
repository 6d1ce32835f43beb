"""The values among which a change is the same change when later values place it elsewhere."""

from __future__ import annotations

from steelyard.analysis.history.creeps import SHORTEST_CREEP
from steelyard.analysis.history.noise_changes import SHORTEST_NOISE
from steelyard.core.tracks import Change

# How far the beginning of a change moves while values are added, where no range is known.
_REACH = {"creep": SHORTEST_CREEP, "noise": SHORTEST_NOISE}


def change_span(change: Change) -> range:
    """The indexes of the values that a change is known by.

    A step has the range in which it began, with 95 % probability; a spike its own values. A creep
    is first seen as steps on its way, so that it has all values from its beginning to its end.
    """
    reach = _REACH.get(change.kind, 0)
    first = min(change.earliest_index, change.index - reach)
    end = change.last_index if change.kind == "creep" else change.last_index + reach
    return range(max(0, first), max(end, change.latest_index) + 1)


def overlap(one: range, other: range) -> bool:
    """Whether two spans share an index."""
    return one.start < other.stop and other.start < one.stop
