"""Tracks as a page draws them: few enough points to be read, packed so that a thousand fit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.history.drawn_points import DrawnPoints
from steelyard.analysis.history.stated_alarms import TrackChanges
from steelyard.core.tracks import Change, TrackPoint
from steelyard.core.units import scale_for
from steelyard.report.kinds.changes.sentences import short_revision, size_text

Floats = NDArray[np.float64]
# Steps of the height: more than a drawing has rows.
_STEPS = 4095


class RevisionTable:
    """The revisions of a repository in the order of their first mention, with their times."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.times: list[float | None] = []

    def number(self, point: TrackPoint) -> int:
        """The number of a point's revision."""
        found = self._numbers.get(point.revision)
        if found is None:
            found = self._numbers[point.revision] = len(self.times)
            self.times.append(point.time_s)
        elif self.times[found] is None:
            self.times[found] = point.time_s
        return found

    def as_json(self) -> dict[str, Any]:
        """Short names and times in whole seconds."""
        return {
            "names": [short_revision(name)[:24] for name in self._numbers],
            "times": [None if time is None else round(time) for time in self.times],
        }


def drawn_tracks(tracks: Sequence[TrackChanges]) -> dict[str, Any]:
    """What the page's script draws: the revisions of each repository, and the tracks.

    Parameters
    ----------
    tracks : sequence of TrackChanges
        With their points.
    """
    tables: dict[str, RevisionTable] = {}
    drawn: list[dict[str, Any]] = []
    for each in tracks:
        if each.drawn is not None:
            table = tables.setdefault(each.name.repository, RevisionTable())
            number = list(tables).index(each.name.repository)
            drawn.append({"repository": number, **_drawn(each, each.drawn, table)})
    return {"revisions": [table.as_json() for table in tables.values()], "tracks": drawn}


def _drawn(each: TrackChanges, drawn: DrawnPoints, table: RevisionTable) -> dict[str, Any]:
    values, kept, points = drawn.values, drawn.indexes, drawn.points
    factor, unit = scale_for(float(np.median(np.abs(values))), each.unit)
    low, high = _bounds(points, values[kept])
    bottom, top = float(low.min()) / factor, float(high.max()) / factor
    has_band = bool((low < high).any())
    return {
        "name": str(each.name),
        "benchmark": each.name.benchmark,
        "metric": each.name.metric,
        "host": each.name.host,
        "unit": unit,
        "count": each.count,
        "bottom": bottom,
        "top": top,
        **_places(kept.tolist(), points, table),
        "value": _quantised(values[kept] / factor, bottom, top),
        "low": _quantised(low / factor, bottom, top) if has_band else None,
        "high": _quantised(high / factor, bottom, top) if has_band else None,
        "levels": _levels(values, each.changes, factor),
        "changes": [_change(change, each.unit) for change in each.changes],
    }


def _bounds(points: Sequence[TrackPoint], values: Floats) -> tuple[Floats, Floats]:
    """The interval of each point, which is its value where it has none."""
    low = [v if p.low is None else min(v, p.low) for p, v in zip(points, values, strict=True)]
    high = [v if p.high is None else max(v, p.high) for p, v in zip(points, values, strict=True)]
    return np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)


def _levels(values: Floats, changes: Sequence[Change], factor: float) -> list[list[float]]:
    """First and last index of each stretch between steps and drifts, and where its line begins and
    ends: at the median, or of a drift at those of the stretches beside it."""
    drifts = {(one.index, one.last_index + 1) for one in changes if one.kind == "creep"}
    inner = {edge for drift in drifts for edge in drift}
    inner.update(change.index for change in changes if change.kind == "step")
    stretches = list(pairwise(sorted({0, *inner, len(values)})))
    medians = [float(np.median(values[first:last])) / factor for first, last in stretches]
    lines: list[list[float]] = []
    for number, (first, last) in enumerate(stretches):
        ends = medians[number], medians[number]
        if (first, last) in drifts and last - first > 1:
            beside = medians[max(0, number - 1)], medians[min(len(medians) - 1, number + 1)]
            ends = beside if 0 < number < len(medians) - 1 else _line(values[first:last] / factor)
        lines.append([first, last - 1, *ends])
    return lines


def _line(values: Floats) -> tuple[float, float]:
    """Where the line of least squares begins and ends."""
    slope, begins = np.polyfit(np.arange(len(values)), values, 1).tolist()
    return begins, begins + slope * (len(values) - 1)


def _change(change: Change, unit: str) -> dict[str, Any]:
    return {
        "index": change.index,
        "last": change.last_index,
        "kind": change.kind,
        "direction": change.direction,
        "revision": short_revision(change.revision),
        "size": size_text(change, unit),
    }


def _places(
    kept: Sequence[int], points: Sequence[TrackPoint], table: RevisionTable
) -> dict[str, list[int] | None]:
    """The index, the place and the revision of each point, each as its distance from the last.

    Places and revisions that are the indexes are left out.
    """
    places = [point.position for point in points]
    revisions = [table.number(point) for point in points]
    return {
        "index": _distances(kept),
        "place": None if places == kept else _distances(places),
        "revision": None if revisions == kept else _distances(revisions),
    }


def _distances(numbers: Sequence[int]) -> list[int]:
    return [number - before for before, number in pairwise([0, *numbers])]


def _quantised(values: Floats, bottom: float, top: float) -> list[int]:
    """Values as steps of the height."""
    height = top - bottom or 1.0
    steps: NDArray[np.int64] = np.rint((values - bottom) / height * _STEPS).astype(np.int64)
    return [int(step) for step in np.clip(steps, 0, _STEPS)]
