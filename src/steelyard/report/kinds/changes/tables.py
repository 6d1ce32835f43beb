"""Tables of changes."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from steelyard.analysis.history.stated_alarms import FoundChanges, TrackChanges
from steelyard.core.tracks import Change
from steelyard.report.kinds.changes.sentences import short_revision, size_text
from steelyard.report.texts.readable import one_line
from steelyard.report.texts.table import Table

HEADERS = ("track", "kind", "revision", "size", "direction", "confidence")


def changes_by_size(tracks: Sequence[TrackChanges]) -> list[tuple[TrackChanges, Change]]:
    """All changes, the largest first; those of noise, whose sizes are of spreads, and those without
    a ratio last."""
    found = [(track, change) for track in tracks for change in track.changes]
    return sorted(found, key=lambda pair: (pair[1].kind == "noise", -_magnitude(pair[1])))


def changes_table(found: FoundChanges, limit: int | None = None) -> Table:
    """A row for each change, the largest first."""
    rows = tuple(
        (
            one_line(str(track.name)),
            change.kind,
            short_revision(change.revision),
            size_text(change, track.unit),
            change.direction,
            confidence_cell(change),
        )
        for track, change in changes_by_size(found.tracks)[:limit]
    )
    return Table(HEADERS, rows, frozenset({0, 1, 2, 3, 4}), (5, 4))


def confidence_cell(change: Change) -> str:
    """A confidence in percent that never reads 100."""
    if change.p_value < 1e-6:
        return "> 99.9999 %"
    return f"{100 * change.confidence:.6g} %"


def _magnitude(change: Change) -> float:
    size = change.size.estimate
    return -1.0 if size is None or size <= 0.0 else abs(log(size))
