"""Forward and backward selection: one predictor at a time, whichever costs or gains most."""

from __future__ import annotations

import numpy as np

from steelyard.predict.arrays import Floats
from steelyard.predict.linear_algebra import pseudo_inverse
from steelyard.predict.subsets.problem import Problem, Subsets, finish, make_problem

# A pivot below this is what rounding left of a predictor that those chosen already explain.
SMALLEST_PIVOT = 1e-10

Path = list[tuple[list[int], float]]


def forward_subsets(x: Floats, y: Floats, limit: int | None = None) -> Subsets:
    """Subsets of sizes 0 to `limit`, each the one before and the predictor that gains most.

    Parameters
    ----------
    x : array, shape (n, p)
    y : array, shape (n,)
    limit : int, optional
        At most this many predictors; never more than n - 2.
    """
    problem = make_problem(x, y)
    most = min(problem.predictors, problem.degrees - 1)
    path = forward_path(problem, most if limit is None else min(limit, most))
    return finish(problem, [members for members, _ in path], exhaustive=False)


def backward_subsets(x: Floats, y: Floats, limit: int | None = None) -> Subsets:
    """Subsets down from all predictors, each the one before less the predictor that costs least.

    With as many predictors as degrees of freedom there is no full model to start from: the path
    then starts from the forward path's last subset. Parameters as `forward_subsets`.
    """
    problem = make_problem(x, y)
    start = list(range(problem.predictors))
    if problem.predictors >= problem.degrees:
        start = forward_path(problem, problem.degrees - 1)[-1][0]
    path = [members for members, _ in backward_path(problem, start)]
    kept = path if limit is None else path[: limit + 1]
    return finish(problem, kept, exhaustive=False)


def forward_path(problem: Problem, limit: int) -> Path:
    """Members and scaled residual sum of each size from 0; ends early where nothing is left."""
    swept = problem.gram.copy()
    p = problem.predictors
    chosen: list[int] = []
    path: Path = [([], float(swept[p, p]))]
    while len(chosen) < limit:
        pivots = swept.diagonal()[:p]
        usable = pivots > SMALLEST_PIVOT
        usable[chosen] = False
        if not usable.any():
            break
        gains = np.where(usable, swept[:p, p] ** 2 / np.where(usable, pivots, 1), -np.inf)
        best = int(gains.argmax())
        swept = swept - np.outer(swept[:, best], swept[best]) / swept[best, best]
        chosen = [*chosen, best]
        path.append((chosen, float(swept[p, p])))
    return path


def backward_path(problem: Problem, start: list[int]) -> Path:
    """Members and scaled residual sum of each size from 0 up to that of `start`."""
    members = list(start)
    path: Path = []
    while members:
        places = [*members, problem.predictors]
        inverse = pseudo_inverse(problem.gram[np.ix_(places, places)])
        last = len(members)
        # An application that is the same on all known hosts leaves nothing to explain.
        precision = float(inverse[last, last])
        path.append((list(members), 1 / precision if precision > 0 else 0.0))
        diagonal = inverse.diagonal()[:last]
        costs = inverse[:last, last] ** 2 / np.where(diagonal > 0, diagonal, 1.0)
        members.pop(int(costs.argmin()))
    path.append(([], float(problem.gram[-1, -1])))
    return path[::-1]
