"""Best subsets by dropping predictors from the full model, whole branches at a time.

Dropping a predictor never lowers the residual sum of squares, so a branch whose top already has
a larger one than the best known subset of the smallest size below it holds nothing better
(Furnival & Wilson 1974; the order in which predictors are dropped follows Hofmann, Gatu &
Kontoghiorghes 2007). Nodes are swept in batches, so that numpy's loops do the work.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.predict.arrays import Floats, Indices, Truths
from steelyard.predict.linear_algebra import pseudo_inverse
from steelyard.predict.subsets.problem import Problem
from steelyard.predict.subsets.stepwise import backward_path, forward_path

# Nodes taken from the stack together: enough for numpy's loops, few enough that bounds found in
# one batch still prune the next.
BATCH_NODES = 256
# Numbers written into swept matrices before the search gives up, about 5 s.
MOST_SWEPT_NUMBERS = 6e9


@dataclass(frozen=True)
class Batch:
    """Nodes of the tree: models, and which of their predictors may still be dropped.

    Parameters
    ----------
    inverse : array, shape (m, p + 1, p + 1)
        Inverse inner products of each model's predictors and the response; rows of dropped
        predictors hold nothing of use.
    members, free : arrays of bool, shape (m, p)
    residual : array, shape (m,)
        Residual sum of squares.
    """

    inverse: Floats
    members: Truths
    free: Truths
    residual: Floats

    def __len__(self) -> int:
        return len(self.residual)

    def take(self, which: Indices | Truths | slice) -> Batch:
        """Some of the nodes."""
        return Batch(
            self.inverse[which], self.members[which], self.free[which], self.residual[which]
        )


class Bests:
    """The best known subset of each size, from 0 to p."""

    def __init__(self, problem: Problem) -> None:
        p = problem.predictors
        self.residual = np.full(p + 1, np.inf)
        self.members = [list[int]() for _ in range(p + 1)]
        for path in (forward_path(problem, p), backward_path(problem, list(range(p)))):
            for members, residual in path:
                self.offer(members, residual)

    def offer(self, members: list[int], residual: float) -> None:
        """Keep a subset if it is better than the best known of its size."""
        if residual < self.residual[len(members)]:
            self.residual[len(members)] = residual
            self.members[len(members)] = members


def search_by_dropping(problem: Problem, limit: int | None) -> tuple[list[list[int]], bool]:
    """Members of the best subset of each size from 0, and whether the search was exhaustive."""
    p = problem.predictors
    most = p if limit is None else min(limit, p)
    bests = Bests(problem)
    if p < 2 or problem.gram[p, p] <= 0:
        return bests.members[: most + 1], True
    inverse = pseudo_inverse(problem.gram)
    everything = np.ones((1, p), dtype=bool)
    stack = [Batch(inverse[None], everything, everything, np.array([1 / inverse[p, p]]))]
    swept = 0.0
    while stack and swept < MOST_SWEPT_NUMBERS:
        batch = _worth_a_look(stack.pop(), bests, most)
        if len(batch) > BATCH_NODES:
            stack.append(batch.take(slice(BATCH_NODES, None)))
            batch = batch.take(slice(BATCH_NODES))
        if len(batch):
            children = _drop_one(batch, bests, most)
            swept += children.inverse.size
            stack.append(children)
    return bests.members[: most + 1], not stack


def _worth_a_look(batch: Batch, bests: Bests, most: int) -> Batch:
    """Nodes that may still lead to a better subset."""
    locked = (batch.members & ~batch.free).sum(axis=1)
    return batch.take((batch.residual < _bound(bests, locked)) & (locked <= most))


def _bound(bests: Bests, locked: Indices) -> Floats:
    """The residual sum that a branch must stay below: that of its smallest size."""
    return bests.residual[np.maximum(locked, 1)]


def _drop_one(batch: Batch, bests: Bests, most: int) -> Batch:
    """The nodes' children, the most promising first; better subsets go to `bests`."""
    p = batch.members.shape[1]
    pivots = np.einsum("nii->ni", batch.inverse)
    response = batch.inverse[:, :p, p]
    residual = 1 / (pivots[:, p:] - response**2 / np.where(batch.members, pivots[:, :p], 1))
    size = batch.members.sum(axis=1)
    _offer_best(batch, residual, size, bests)
    # What costs most to drop goes first: its child has most left to drop, and is pruned soonest.
    order = np.argsort(np.where(batch.free, -residual, np.inf), axis=1)
    rank = np.argsort(order, axis=1)
    free_count = batch.free.sum(axis=1)
    locked = (size - free_count)[:, None] + rank
    wanted = (
        batch.free
        & (rank < free_count[:, None] - 1)
        & (residual < _bound(bests, np.minimum(locked, p)))
        & (locked <= np.minimum(most, size[:, None] - 2))
    )
    node, dropped = np.nonzero(wanted)
    first = np.argsort(residual[node, dropped], kind="stable")
    return _children(batch, node[first], dropped[first], rank, residual)


def _children(
    batch: Batch, node: Indices, dropped: Indices, rank: Indices, residual: Floats
) -> Batch:
    """Each node with one predictor dropped, and those ranked before it locked."""
    column = batch.inverse[node, :, dropped]
    pivot = batch.inverse[node, dropped, dropped]
    inverse = batch.inverse[node] - column[:, :, None] * (column / pivot[:, None])[:, None, :]
    members = batch.members[node]
    members[np.arange(len(node)), dropped] = False
    free = batch.free[node] & (rank[node] > rank[node, dropped][:, None])
    return Batch(inverse, members, free, residual[node, dropped])


def _offer_best(batch: Batch, residual: Floats, size: Indices, bests: Bests) -> None:
    """Offer, for each size in the batch, the best subset with one predictor dropped."""
    of_free = np.where(batch.free, residual, np.inf)
    best = of_free.argmin(axis=1)
    least = of_free[np.arange(len(batch)), best]
    for count in np.unique(size):
        nodes = np.flatnonzero(size == count)
        node = nodes[least[nodes].argmin()]
        members = np.flatnonzero(batch.members[node])
        bests.offer([int(m) for m in members if m != best[node]], float(least[node]))
