"""Where the level or the spread of a sequence changes: PELT."""

from __future__ import annotations

from math import inf, log

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.table import Floats

Integers = NDArray[np.int64]

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


def change_points(
    values: Floats, spread_floor: float, penalty: float | None = None
) -> tuple[int, ...]:
    """The places at which a new segment begins, in order, without 0.

    Parameters
    ----------
    values : array
        At least one value, finite.
    spread_floor : float
        Standard deviation, in the unit of the values, below which nothing is told apart, such as
        the resolution of the clock; above 0.
    penalty : float, optional
        What a change must gain in twice the log-likelihood.

    Notes
    -----
    Minimises ``sum n_i log(v_i) + penalty * changes`` over all divisions into segments of at
    least `SHORTEST_SEGMENT` values, where ``v_i`` is the mean squared deviation from the mean of
    segment i plus ``spread_floor ** 2``: twice the negative log-likelihood of normal values whose
    mean and variance both change. Killick, Fearnhead and Eckley, Optimal detection of
    changepoints with a linear computational cost, JASA 107 (2012) 1590: PELT, exact for the
    places that are allowed. Those are all of them up to 500 values; of more values every k-th,
    with the first 60; a second pass then allows all places around the changes that were found.
    """
    count = len(values)
    if penalty is None:
        penalty = PENALTY_FACTOR * log(count)
    if count < 2 * SHORTEST_SEGMENT:
        return ()
    cost = _Cost(values, spread_floor)
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


class _Cost:
    """Twice the negative log-likelihood of segments, from sums up to each place."""

    def __init__(self, values: Floats, spread_floor: float) -> None:
        # Sums of squares lose no digits when the values lie around 0.
        centred = values - np.median(values)
        self.sums = np.concatenate([[0.0], np.cumsum(centred)])
        self.squares = np.concatenate([[0.0], np.cumsum(centred * centred)])
        self.floor = spread_floor * spread_floor

    def of(self, starts: Integers, ends: Integers | int) -> Floats:
        """The costs of the segments from `starts` up to before `ends`."""
        lengths = ends - starts
        means = (self.sums[ends] - self.sums[starts]) / lengths
        variances = (self.squares[ends] - self.squares[starts]) / lengths - means * means
        return lengths * np.log(np.maximum(variances, 0.0) + self.floor)


def _optimal(cost: _Cost, places: Integers, penalty: float) -> tuple[int, ...]:
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
