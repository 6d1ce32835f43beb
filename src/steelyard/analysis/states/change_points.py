"""Where the level or the spread of a sequence changes: PELT."""

from __future__ import annotations

from math import inf, log

import numpy as np

from steelyard.analysis.states.segment_cost import Integers, SegmentCost

# Barrett et al., OOPSLA 2017, section 4: "a penalty of 15 log(n)", for values that depend on
# each other, where the 3 log(n) of independent normal values finds changes that are none.
PENALTY_FACTOR = 15.0
# From two values on there is a variance. That of so few is often far too small; the floor of
# the spread keeps what that can gain below any penalty.
SHORTEST_SEGMENT = 2
# Longer sequences may first change at so many places only, the first ones all among them;
# a second pass looks around each change.
_MOST_PLACES = 500
_FIRST_PLACES = 60
_NEVER = 2**62


def change_penalty(count: int) -> float:
    """What a change among `count` values must gain in twice the log-likelihood."""
    return PENALTY_FACTOR * log(count)


def change_points(cost: SegmentCost, penalty: float) -> tuple[int, ...]:
    """The places at which a new segment begins, in order, without 0.

    Parameters
    ----------
    cost : SegmentCost
        Of the values.
    penalty : float
        What a change must gain in twice the log-likelihood.

    Notes
    -----
    Minimises ``sum n_i log(v_i) + penalty * changes`` over all divisions into segments of at
    least `SHORTEST_SEGMENT` values, where ``v_i`` is the mean squared deviation from the mean of
    segment i plus the square of the floor of spreads: twice the negative log-likelihood of normal
    values whose mean and variance both change. Killick, Fearnhead and Eckley, Optimal detection of
    changepoints with a linear computational cost, JASA 107 (2012) 1590: PELT, exact for the
    places that are allowed. Those are all of them up to 500 values; of more values every k-th,
    with the first 60; a second pass then allows all places around the changes that were found.
    """
    count = cost.count
    if count < 2 * SHORTEST_SEGMENT:
        return ()
    stride = -(-count // _MOST_PLACES)
    places = np.unique(
        np.concatenate([np.arange(min(_FIRST_PLACES, count)), np.arange(0, count, stride), [count]])
    ).astype(np.int64)
    found = _optimal(cost, places, penalty)
    if stride == 1 or not found:
        return found
    around = np.array(found)[:, None] + np.arange(-stride, stride + 1)
    inside = around[(around > 0) & (around < count)]
    return _optimal(cost, np.unique(np.concatenate([[0], inside, [count]])), penalty)


def _optimal(cost: SegmentCost, places: Integers, penalty: float) -> tuple[int, ...]:
    """The best changes among `places`, the first of which is 0 and the last the end."""
    best = np.full(len(places), inf)
    best[0] = -penalty
    before = np.zeros(len(places), dtype=np.int64)
    candidates = np.zeros(0, dtype=np.int64)
    # When a candidate was found to be no better than a later one will be. That later one takes
    # its place only for ends that leave it a whole segment.
    lost_at = np.zeros(0, dtype=np.int64)
    entered = 0
    for index in range(1, len(places)):
        end = int(places[index])
        while places[entered] + SHORTEST_SEGMENT <= end:
            if best[entered] < inf:
                candidates = np.append(candidates, entered)
                lost_at = np.append(lost_at, _NEVER)
            entered += 1
        if not len(candidates):
            continue
        totals = best[candidates] + cost.of(places[candidates], end)
        least = int(np.argmin(totals))
        best[index] = totals[least] + penalty
        before[index] = candidates[least]
        lost = totals >= best[index]
        if lost.any():
            lost_at[lost] = np.minimum(lost_at[lost], end)
            kept = lost_at + SHORTEST_SEGMENT > end
            candidates, lost_at = candidates[kept], lost_at[kept]
    found: list[int] = []
    index = int(before[-1])
    while index:
        found.append(int(places[index]))
        index = int(before[index])
    return tuple(reversed(found))
