"""What can be made higher in a program: frames that grow, and calls that are wrapped.

Whatever lies on the stack above one becomes higher each time it is on a path.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from steelyard.analysis.paths.path_map import ROOT
from steelyard.analysis.paths.path_order import Integers, PathOrder

# A frame is named by its function and `ROOT`, a call by its caller and its callee.
Step = tuple[int, int]
_NONE = -1


@dataclass(frozen=True)
class HeightSteps:
    """The steps of a map.

    Parameters
    ----------
    names : tuple of Step
    of_node : array of int, nodes by 2
        The number of the step that a node has for what it calls, its frame, and of the one that
        it has for itself too, its call; -1 for none.
    """

    names: tuple[Step, ...]
    of_node: Integers


def height_steps(
    order: PathOrder, frames: Collection[int], calls: Collection[tuple[int, int]]
) -> HeightSteps:
    """The steps of the nodes of a map.

    Parameters
    ----------
    order : PathOrder
    frames : collection of int
        Functions whose frames can grow.
    calls : collection of (int, int)
        Callers and callees whose calls can be wrapped.
    """
    numbers: dict[Step, int] = {}
    grow, wrap = frozenset(frames), frozenset(calls)
    of_node = np.full((len(order.functions), 2), _NONE, dtype=np.int64)
    pairs = zip(order.callers.tolist(), order.functions.tolist(), strict=True)
    for place, call in enumerate(pairs):
        function = call[1]
        if function in grow:
            of_node[place, 0] = numbers.setdefault((function, ROOT), len(numbers))
        if call in wrap:
            of_node[place, 1] = numbers.setdefault(call, len(numbers))
    return HeightSteps(tuple(numbers), of_node)


class StepCounts:
    """How often each step is on each path."""

    # Counts that are kept, in bytes.
    _MOST_KEPT = 1 << 28

    def __init__(self, order: PathOrder, steps: HeightSteps) -> None:
        self._order = order
        self._steps = steps
        by_node = steps.of_node.ravel()
        by_step = np.argsort(by_node, kind="stable")
        self._nodes = by_step // 2
        self._firsts = np.searchsorted(by_node[by_step], np.arange(len(steps.names) + 1)).tolist()
        self._kept: dict[int, Integers] = {}
        self._most_kept = self._MOST_KEPT // (8 * max(len(order.parents), 1))

    def on_paths(self, step: int) -> Integers:
        """How often it is below the entry of each node."""
        known = self._kept.get(step)
        if known is not None:
            return known
        found = np.zeros(len(self._order.ends) + 1, dtype=np.int64)
        nodes = self._nodes[self._firsts[step] : self._firsts[step + 1]]
        # A frame lies below what its function calls, a wrapper below the function itself.
        is_frame = self._steps.names[step][1] == ROOT
        found[nodes + is_frame] += 1
        np.subtract.at(found, self._order.ends[nodes], 1)
        counts = np.cumsum(found[:-1])
        if len(self._kept) < self._most_kept:
            self._kept[step] = counts
        return counts

    def on_path_to(self, node: int) -> dict[int, int]:
        """How often each step is on the path to a node, outermost first."""
        found: list[int] = []
        at = node
        while at != ROOT:
            frame, call = self._steps.of_node[at].tolist()
            found += [step for step in (_NONE if at == node else frame, call) if step != _NONE]
            at = int(self._order.parents[at])
        counts: dict[int, int] = {}
        for step in reversed(found):
            counts[step] = counts.get(step, 0) + 1
        return counts
