"""The minimum of a function without its derivatives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from steelyard.analysis.variance.nested_values import Floats

_STEPS = 5000
_PRECISION = 1e-8
_FIRST_STEP = 0.3


def simplex_minimum(function: Callable[[Floats], float], start: Floats) -> Floats:
    """Where a function of non-negative numbers is least, by a simplex that reflects, grows and
    shrinks.

    Parameters
    ----------
    function : callable
        Takes an array; alike for a number and its negative.
    start : array
        Where to begin; empty gives itself back.

    Notes
    -----
    Nelder and Mead, Computer Journal 7 (1965) 308. In up to 3 dimensions it takes about 300
    steps.
    """
    if not len(start):
        return start
    points = [start, *(start + _FIRST_STEP * unit for unit in np.eye(len(start)))]
    simplex = sorted(((function(p), place, p) for place, p in enumerate(points)))
    for step in range(len(points), _STEPS):
        best, worst = simplex[0][0], simplex[-1][0]
        if max(np.abs(p - simplex[0][2]).max() for _, _, p in simplex) <= _PRECISION:
            break
        centre = np.mean([p for _, _, p in simplex[:-1]], axis=0)
        away = centre - simplex[-1][2]
        point, value = centre + away, function(centre + away)
        if value < best:
            further = centre + 2 * away
            beyond = function(further)
            if beyond < value:
                point, value = further, beyond
        elif value >= simplex[-2][0]:
            nearer = centre + (0.5 if value < worst else -0.5) * away
            point, value = nearer, function(nearer)
        if value < worst:
            simplex[-1] = (value, step, point)
        else:
            simplex[1:] = [
                (function(p), -place, p)
                for place, p in enumerate(((q + simplex[0][2]) / 2 for _, _, q in simplex[1:]), 1)
            ]
        simplex.sort(key=lambda vertex: vertex[:2])
    return np.abs(simplex[0][2])
