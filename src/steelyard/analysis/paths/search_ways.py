"""The ways between the places of a search, in columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.analysis.paths.call_graph import Beginning

Numbers = npt.NDArray[np.int64]
_BYTES_OF_WORD = 8


class Way(NamedTuple):
    """A way between two places; a place is a function, or what pointers may hold."""

    source: int
    target: int
    height_bytes: int
    price: int
    adds_function: bool


@dataclass(frozen=True)
class Ways:
    """Ways by the place that they lead to; heights in grains."""

    sources: Numbers
    targets: Numbers
    levels: Numbers
    prices: Numbers
    added: Numbers

    def group(self, chosen: npt.NDArray[np.bool_]) -> GroupedWays:
        """Those that are chosen."""
        order = np.flatnonzero(chosen)
        targets, starts = np.unique(self.targets[order], return_index=True)
        return GroupedWays(
            self.sources[order], self.levels[order], self.prices[order], targets, starts
        )


@dataclass(frozen=True)
class GroupedWays:
    """Ways of one kind, and where those to each place start among them."""

    sources: Numbers
    levels: Numbers
    prices: Numbers
    targets: Numbers
    starts: Numbers


def common_grain(ways: Iterable[Way], begins: Iterable[Beginning]) -> int:
    """What all heights are multiples of, in bytes."""
    heights = [way.height_bytes for way in ways] + [one.height_bytes for one in begins]
    return int(np.gcd.reduce(np.array(heights, np.int64), initial=0)) or _BYTES_OF_WORD


def sorted_ways(ways: Iterable[Way], grain: int) -> Ways:
    """The ways by the place that they lead to."""
    rows = sorted(ways, key=lambda way: (way.target, way))
    table = np.array(rows, np.int64).reshape(-1, len(Way._fields))
    return Ways(table[:, 0], table[:, 1], table[:, 2] // grain, table[:, 3], table[:, 4])
