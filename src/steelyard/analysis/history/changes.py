"""From detections to changes: how large, in which direction, from which revision on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.analysis.history.change_size import Sizes, creep_sizes, level_sizes, noise_sizes
from steelyard.analysis.history.detector import Detection, Detector, Sensitivity
from steelyard.analysis.history.series import Flags, Floats, Integers, Series
from steelyard.analysis.history.where_it_began import beginning_range
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_spec import Direction
from steelyard.core.tracks import Change, ChangeDirection, ChangeKind

# Around a change without a neighbour this many values say what there is to say of a level.
LONGEST_FLANK = 500
CONFIDENCE = 0.95
_LEAST_P = 1e-300


def find_changes(
    series: Series, detector: Detector, sensitivity: Sensitivity | None = None
) -> tuple[Change, ...]:
    """The changes of a series, oldest first.

    Parameters
    ----------
    series : Series
    detector : Detector
    sensitivity : Sensitivity, optional

    Notes
    -----
    Sizes are of the values between a change and its neighbours, `LONGEST_FLANK` at most on each
    side. A change smaller than the sensitivity's least ratio is left out.
    """
    asked = Sensitivity() if sensitivity is None else sensitivity
    if len(series) < detector.least_points:
        return ()
    detections = sorted(detector.detect(series, asked), key=lambda one: (one.index, one.kind))
    return describe_changes(series, detections, detector.name, asked.least_ratio)


def describe_changes(
    series: Series, detections: Sequence[Detection], detector: str, least_ratio: float = 0.0
) -> tuple[Change, ...]:
    """The changes that detections in the order of their index stand for."""
    if not detections:
        return ()
    bounds = _level_bounds(detections, len(series))
    usual = np.ones(len(series), dtype=bool)
    for one in detections:
        if one.kind == "spike":
            usual[one.index : one.last_index + 1] = False
    found = [_change(series, one, bounds, usual, detector) for one in detections]
    return tuple(change for change in found if _is_large(change, least_ratio) and _is_shown(change))


def _level_bounds(detections: Sequence[Detection], count: int) -> list[int]:
    """Where levels begin and end, with both ends of the series."""
    inner = {one.index for one in detections if one.kind in ("step", "noise")}
    for one in detections:
        if one.kind == "creep":
            inner.update((one.index, one.last_index + 1))
    return sorted({0, count, *inner})


def _flanks(one: Detection, bounds: list[int], usual: Flags) -> tuple[Integers, Integers]:
    """The indexes before the change, and those in which it holds."""
    first = max(bound for bound in bounds if bound < one.index) if one.index else 0
    after = one.last_index + 1
    end = min((bound for bound in bounds if bound > one.last_index), default=after)
    first, end = max(first, one.index - LONGEST_FLANK), min(end, one.index + LONGEST_FLANK)
    before = np.arange(first, one.index)
    if one.kind == "spike":
        around = np.concatenate([before, np.arange(after, end)])
        return around[usual[around]], np.arange(one.index, after)
    holding = np.arange(after if one.kind == "creep" else one.index, end)
    kept = before[usual[before]], holding[usual[holding]]
    return (
        kept[0] if len(kept[0]) else before,
        kept[1] if len(kept[1]) else holding,
    )


def _change(
    series: Series,
    one: Detection,
    bounds: list[int],
    usual: Flags,
    detector: str,
) -> Change:
    before, holding = _flanks(one, bounds, usual)
    values = series.values
    sizes = _sizes(one, values, before, holding)
    earliest = latest = one.index
    if one.kind == "step":
        earliest, latest = beginning_range(values, before, holding, one.index)
    p_value = min(1.0, max(_LEAST_P, one.p_value))
    return Change(
        track=series.name,
        kind=one.kind,
        index=one.index,
        last_index=one.last_index,
        revision=series.revisions[one.index],
        first_revision=series.first_revisions[one.index],
        previous_revision=series.revisions[one.index - 1] if one.index else "",
        earliest_index=earliest,
        latest_index=latest,
        size=sizes.ratio,
        difference=sizes.difference,
        direction=_direction(one.kind, sizes, series.direction),
        confidence=1.0 - p_value,
        p_value=p_value,
        detector=detector,
    )


def _sizes(
    one: Detection,
    values: Floats,
    before: Integers,
    holding: Integers,
) -> Sizes:
    if one.kind == "noise":
        return noise_sizes(values[before], values[holding], CONFIDENCE)
    if one.kind == "creep":
        return creep_sizes(values[max(0, one.index - 1) : one.last_index + 1], CONFIDENCE)
    return level_sizes(values[before], values[holding], CONFIDENCE)


def _direction(kind: ChangeKind, sizes: Sizes, better: Direction) -> ChangeDirection:
    moved = sizes.difference.estimate or 0.0
    if moved == 0.0:
        return "neither"
    if kind == "noise":
        return "worse" if moved > 0 else "better"
    return "worse" if (moved > 0) == (better == "lower") else "better"


def _is_shown(change: Change) -> bool:
    """Whether the values beside a change of noise have spreads that differ."""
    size = change.size
    shows_none = isinstance(size, Estimate) and size.low <= 1.0 <= size.high
    return change.kind != "noise" or not shows_none


def _is_large(change: Change, least_ratio: float) -> bool:
    """Whether the size is not within the ratio around 1; one without a ratio counts as large."""
    size = change.size
    if least_ratio <= 0.0 or not isinstance(size, Estimate) or size.estimate <= 0:
        return True
    return max(size.estimate, 1 / size.estimate) >= 1.0 + least_ratio
