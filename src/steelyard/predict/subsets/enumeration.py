"""Best subsets where there are as many predictors as observations: by adding, all of them.

The full model then fits perfectly, so no branch can be bounded from above by it, and every
subset up to a size is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from steelyard.predict.arrays import Floats, Indices, Truths
from steelyard.predict.subsets.problem import Problem
from steelyard.predict.subsets.stepwise import SMALLEST_PIVOT, forward_path

# Numbers written into swept matrices, about 0.1 s: 5 of 28 predictors, 2 of 200.
MOST_SWEPT_NUMBERS = 2.5e7
BATCH_NODES = 2048


@dataclass(frozen=True)
class Level:
    """Subsets of one size: swept inner products, and their members in ascending order."""

    swept: Floats
    members: Indices


def affordable_size(predictors: int, degrees: int) -> int:
    """The most predictors for which every subset can be looked at; leaves a residual degree."""
    largest = min(predictors, degrees - 1)
    swept = 0.0
    for size in range(1, largest + 1):
        swept += comb(predictors, size - 1) * (predictors + 1) ** 2
        if swept > MOST_SWEPT_NUMBERS:
            return size - 1
    return max(largest, 0)


def search_by_adding(problem: Problem, limit: int | None) -> tuple[list[list[int]], bool]:
    """Members of the best subset of each size from 0 to the affordable one or `limit`.

    The search is exhaustive up to that size; the second value says whether that is `limit`, or
    the largest with a residual degree where there is no limit.
    """
    p = problem.predictors
    wanted = max(min(p, problem.degrees - 1), 0)
    wanted = wanted if limit is None else min(wanted, limit)
    most = min(wanted, affordable_size(p, problem.degrees))
    start = forward_path(problem, most)
    most = len(start) - 1
    residual = np.array([value for _, value in start])
    members = [chosen for chosen, _ in start]
    stack = [Level(problem.gram[None], np.zeros((1, 0), dtype=np.intp))] if most else []
    while stack:
        level = stack.pop()
        if len(level.swept) > BATCH_NODES:
            stack.append(Level(level.swept[BATCH_NODES:], level.members[BATCH_NODES:]))
            level = Level(level.swept[:BATCH_NODES], level.members[:BATCH_NODES])
        size = level.members.shape[1] + 1
        left = _residual_with_one_more(level)
        node, added = np.unravel_index(int(left.argmin()), left.shape)
        if left[node, added] < residual[size]:
            residual[size] = left[node, added]
            members[size] = [*(int(m) for m in level.members[node]), int(added)]
        if size < most:
            stack.append(_with_one_more(level, left))
    return members, most == wanted


def _residual_with_one_more(level: Level) -> Floats:
    """Residual sum of each subset with each later predictor, shape (m, p); inf elsewhere."""
    p = level.swept.shape[1] - 1
    pivots: Floats = np.einsum("nii->ni", level.swept)[:, :p]
    places: Indices = np.arange(p, dtype=np.intp)
    later: Truths = np.greater(places, _last(level)[:, None])
    usable: Truths = np.logical_and(pivots > SMALLEST_PIVOT, later)
    gain = level.swept[:, :p, p] ** 2 / np.where(usable, pivots, 1)
    return np.where(usable, level.swept[:, p, p][:, None] - gain, np.inf)


def _last(level: Level) -> Indices:
    """The last member of each subset, -1 where there is none."""
    if level.members.shape[1]:
        return level.members[:, -1]
    return np.full(len(level.members), -1, dtype=np.intp)


def _with_one_more(level: Level, left: Floats) -> Level:
    """Every subset with every later predictor, swept."""
    node, added = np.nonzero(np.isfinite(left))
    row = level.swept[node, added]
    pivot = level.swept[node, added, added]
    swept = level.swept[node] - row[:, :, None] * (row / pivot[:, None])[:, None, :]
    return Level(swept, np.column_stack([level.members[node], added]))
