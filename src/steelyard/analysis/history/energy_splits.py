"""Where the distribution of values changes, by energy distances."""

from __future__ import annotations

import numpy as np

from steelyard.analysis.distributions.table_distributions import t_two_sided_p_values
from steelyard.analysis.history.series import Floats

SHORTEST_SIDE = 5
# Distances of all pairs are looked at, so that longer tracks are taken in stretches.
LONGEST_STRETCH = 1000


def energy_splits(values: Floats, rate: float) -> dict[int, float]:
    """The places at which a new segment begins, each with its p-value.

    Parameters
    ----------
    values : array
    rate : float
        Largest p-value.

    Notes
    -----
    E-divisive: the place at which the energy distance of both sides is largest, in each part again
    (Matteson and James, Journal of the American Statistical Association 109 (2014) 334, with
    exponent 1). A place stays where Welch's t between the segments beside it rejects, in place of
    permutations, as Fleming et al. (Hunter, ICPE 2023) do it.
    """
    found: dict[int, float] = {}
    waiting = _stretches(len(values))
    while waiting:
        first, last = waiting.pop()
        if last - first < 2 * SHORTEST_SIDE:
            continue
        place = first + _best_place(values[first:last])
        p_value = _welch_p(values[first:place], values[place:last])
        if p_value <= rate and all(abs(place - other) >= SHORTEST_SIDE for other in found):
            found[place] = p_value
            waiting += [(first, place), (place, last)]
    return found


def _stretches(count: int) -> list[tuple[int, int]]:
    """Stretches that overlap by half."""
    step = LONGEST_STRETCH // 2
    if count <= LONGEST_STRETCH:
        return [(0, count)]
    starts = range(0, count - step, step)
    return [(start, min(count, start + LONGEST_STRETCH)) for start in starts]


def _best_place(values: Floats) -> int:
    """The place with the largest energy statistic, with `SHORTEST_SIDE` values on each side."""
    count = len(values)
    distances = np.abs(values[:, None] - values[None, :])
    # Of each value to those before it, summed up to each place: pairs within the left side.
    before = np.concatenate([[0.0], np.cumsum(np.tril(distances, -1).sum(axis=1))])
    after = np.concatenate([np.cumsum(np.triu(distances, 1).sum(axis=1)[::-1])[::-1], [0.0]])
    places = np.arange(SHORTEST_SIDE, count - SHORTEST_SIDE + 1)
    left, right = places.astype(np.float64), (count - places).astype(np.float64)
    within_left, within_right = before[places], after[places]
    between = before[-1] - within_left - within_right
    distance = (
        2.0 * between / (left * right)
        - 2.0 * within_left / (left * (left - 1.0))
        - 2.0 * within_right / (right * (right - 1.0))
    )
    return int(places[np.argmax(distance * left * right / count)])


def _welch_p(before: Floats, after: Floats) -> float:
    own = float(before.var(ddof=1)) / len(before)
    other = float(after.var(ddof=1)) / len(after)
    apart = float(after.mean() - before.mean())
    if own + other <= 0.0:
        return 1.0 if apart == 0.0 else 0.0
    degrees = (own + other) ** 2 / (own**2 / (len(before) - 1) + other**2 / (len(after) - 1))
    statistic = apart / (own + other) ** 0.5
    return float(t_two_sided_p_values(np.array([statistic]), np.array([degrees]))[0])
