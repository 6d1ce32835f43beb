"""Which changes of a track its newest values brought."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analysis.history.change_span import change_span, overlap
from steelyard.analysis.history.changes import find_changes
from steelyard.analysis.history.detector import Detector, Sensitivity
from steelyard.analysis.history.series import Series
from steelyard.core.tracks import Change

# A change that took more values than this to be seen is too small to be told of as new.
LATEST_SEEN = 100


def new_changes(
    series: Series,
    changes: Sequence[Change],
    detector: Detector,
    sensitivity: Sensitivity,
    newest_count: int,
) -> frozenset[int]:
    """The numbers of the changes that begin among the newest values, or that cannot be seen
    without them.

    Parameters
    ----------
    series : Series
    changes : sequence of Change
        Of the series, found by the detector.
    detector : Detector
    sensitivity : Sensitivity
    newest_count : int
    """
    count = len(series)
    begun = count - newest_count
    late = [
        number
        for number, change in enumerate(changes)
        if begun > change.index >= count - LATEST_SEEN
    ]
    found = {number for number, change in enumerate(changes) if change.index >= begun}
    if not late or begun < detector.least_points:
        return frozenset(found.union(late))
    before = find_changes(series.part(0, begun), detector, sensitivity)
    found.update(number for number in late if not _was_seen(changes[number], before))
    return frozenset(found)


def _was_seen(change: Change, before: Sequence[Change]) -> bool:
    return any(overlap(change_span(change), change_span(other)) for other in before)
