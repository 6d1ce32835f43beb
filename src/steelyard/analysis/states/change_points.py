"""Where the level or the spread of a sequence changes, at one penalty and along a path of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

import numpy as np

from steelyard.analysis.states.segment_cost import Integers, SegmentCost
from steelyard.analysis.tables.data_columns import Floats

# Barrett et al., OOPSLA 2017, section 4: "a penalty of 15 log(n)", for values that depend on
# each other, where the 3 log(n) of independent normal values finds changes that are none.
PENALTY_FACTOR = 15.0
# Traini et al. (2023), section 3.2: penalties from 4 log(n) to 100,000 log(n). At 15,360 log(n)
# nothing is left of any of their executions. Two steps double the penalty.
_STEPS_BELOW, _STEPS_ABOVE = 4, 20
PENALTY_FACTORS = tuple(
    PENALTY_FACTOR * 2 ** (step / 2) for step in range(-_STEPS_BELOW, _STEPS_ABOVE + 1)
)
# From two values on there is a variance. That of so few is often far too small; the floor of
# the spread keeps what that can gain below any penalty.
SHORTEST_SEGMENT = 2
# Longer sequences may first change at so many places only, the first ones all among them;
# then each change is moved to the best place around it.
_MOST_PLACES = 500
_FIRST_PLACES = 60
_MOVES = 2
# Of two or three steps each is a knee. From 3 to 15 changes the published opinion on 480 executions
# is met as well.
_FEWEST_OF_KNEE = 10

Changes = tuple[int, ...]


@dataclass(frozen=True)
class ChangePath:
    """The changes at each of `PENALTY_FACTORS`, from the many of the least to none.

    Parameters
    ----------
    changes : tuple of tuple of int
        For each factor, the places at which a new segment begins.
    """

    changes: tuple[Changes, ...]

    @property
    def usual(self) -> Changes:
        """Those at the penalty of `PENALTY_FACTOR`."""
        return self.changes[_STEPS_BELOW]

    @property
    def coarser(self) -> tuple[Changes, ...]:
        """Those at larger penalties, in order, each once."""
        return tuple(dict.fromkeys(self.changes[_STEPS_BELOW + 1 :]))

    @property
    def knee(self) -> float:
        """The factor beyond which few changes are lost for much more penalty.

        Satopää, Albrecht, Irwin and Raghavan, Finding a "Kneedle" in a Haystack (ICDCSW 2011):
        where the count of changes over the penalty, both scaled to 0 ... 1, lies furthest below
        the line between its ends. The ends are the least penalty and the last that loses a change.
        The usual penalty where there are fewer than `_FEWEST_OF_KNEE` changes in all.
        """
        if len(self.changes[0]) < _FEWEST_OF_KNEE:
            return PENALTY_FACTOR
        counts = np.array([len(changes) for changes in self.changes], dtype=np.float64)
        at = np.concatenate([[0], 1 + np.flatnonzero(np.diff(counts))])
        penalties = np.array(PENALTY_FACTORS)[at]
        scaled = (penalties - penalties[0]) / (penalties[-1] - penalties[0])
        left = (counts[at] - counts[at[-1]]) / (counts[at[0]] - counts[at[-1]])
        return float(penalties[int(np.argmin(scaled + left))])


def change_path(cost: SegmentCost) -> ChangePath:
    """The changes of a sequence at each of `PENALTY_FACTORS` times log n."""
    penalties = np.array(PENALTY_FACTORS) * log(cost.count)
    return ChangePath(_changes_at(cost, penalties))


def change_penalty(count: int) -> float:
    """What a change among `count` values must gain in twice the log-likelihood."""
    return PENALTY_FACTOR * log(count)


def change_points(cost: SegmentCost, penalty: float) -> Changes:
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
    values whose mean and variance both change. Jackson et al., An algorithm for optimal
    partitioning of data on an interval, IEEE Signal Processing Letters 12 (2005) 105: the minimum
    that PELT finds too (Killick, Fearnhead and Eckley, JASA 107 (2012) 1590), here for all
    penalties in one pass over the costs. Exact for the places that are allowed. Those are all up to
    500 values; of more values every k-th, with the first 60; then each change moves to the best
    place of all within k of it, and goes if it does not gain the penalty there, twice in turn;
    two changes that are at most k apart become one where that is as good.
    """
    return _changes_at(cost, np.array([penalty]))[0]


def _changes_at(cost: SegmentCost, penalties: Floats) -> tuple[Changes, ...]:
    count = cost.count
    if count < 2 * SHORTEST_SEGMENT:
        return ((),) * len(penalties)
    stride = -(-count // _MOST_PLACES)
    places = np.unique(
        np.concatenate([np.arange(min(_FIRST_PLACES, count)), np.arange(0, count, stride), [count]])
    ).astype(np.int64)
    found = _optimal(cost, places, penalties)
    if stride == 1:
        return found
    # The largest penalty that gives the same changes allows the fewest of them.
    largest = dict(zip(found, penalties.tolist(), strict=True))
    moved = {
        changes: _moved(cost, changes, stride, penalty) for changes, penalty in largest.items()
    }
    return tuple(moved[changes] for changes in found)


def _optimal(cost: SegmentCost, places: Integers, penalties: Floats) -> tuple[Changes, ...]:
    """For each penalty the best changes among `places`, the first of which is 0 and the last the
    end."""
    costs = cost.between(places, SHORTEST_SEGMENT)
    best = np.full((len(penalties), len(places)), inf)
    best[:, 0] = -penalties
    before = np.zeros(best.shape, dtype=np.int64)
    rows = np.arange(len(penalties))
    for end in range(1, len(places)):
        totals = best[:, :end] + costs[end, :end]
        least = totals.argmin(axis=1)
        before[:, end] = least
        best[:, end] = totals[rows, least] + penalties
    return tuple(_traced(row, places) for row in before)


def _traced(before: Integers, places: Integers) -> Changes:
    found: list[int] = []
    index = int(before[-1])
    while index:
        found.append(int(places[index]))
        index = int(before[index])
    return tuple(reversed(found))


def _moved(cost: SegmentCost, changes: Changes, reach: int, penalty: float) -> Changes:
    """The changes, each at the best place within `reach` of it and worth the penalty, given those
    beside it."""
    bounds = np.array([0, *changes, cost.count], dtype=np.int64)
    for _ in range(_MOVES):
        for first in (1, 2):
            bounds = _moved_alternate(cost, bounds, first, reach, penalty)
        bounds = _joined(cost, bounds, reach, penalty)
    return tuple(bounds[1:-1].tolist())


def _moved_alternate(
    cost: SegmentCost, bounds: Integers, first: int, reach: int, penalty: float
) -> Integers:
    """The bounds with every second one, from `first` on, moved or taken out."""
    at = np.arange(first, len(bounds) - 1, 2)
    if not len(at):
        return bounds
    lower, upper = bounds[at - 1, None], bounds[at + 1, None]
    near = bounds[at, None] + np.arange(-reach, reach + 1)
    near = np.clip(near, lower + SHORTEST_SEGMENT, upper - SHORTEST_SEGMENT).astype(np.int64)
    totals = cost.of(lower, near) + cost.of(near, upper)
    rows, least = np.arange(len(at)), totals.argmin(axis=1)
    moved = bounds.copy()
    moved[at] = near[rows, least]
    kept = np.ones(len(bounds), dtype=bool)
    kept[at] = cost.of(lower[:, 0], upper[:, 0]) - totals[rows, least] >= penalty
    return moved[kept]


def _joined(cost: SegmentCost, bounds: Integers, reach: int, penalty: float) -> Integers:
    """The bounds with one change for two on either side of it, where that is as good.

    Between two allowed places the one true change looks like a short segment of its own.
    """
    found: list[int] = bounds.tolist()
    index = 1
    while index + 2 < len(found):
        first, left, right, last = found[index - 1 : index + 3]
        low, high = max(left, first + SHORTEST_SEGMENT), min(right, last - SHORTEST_SEGMENT)
        if right - left <= reach:
            near = np.arange(low, high + 1, dtype=np.int64)
            single = cost.of(np.full(len(near), first), near) + cost.of(near, last)
            double = cost.of(np.array([first, left, right]), np.array([left, right, last]))
            if float(single.min()) <= float(double.sum()) + penalty:
                found[index : index + 2] = [int(near[int(np.argmin(single))])]
                continue
        index += 1
    return np.array(found, dtype=np.int64)
