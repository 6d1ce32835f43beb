"""The integer program of the fewest workers (Oliveira 2015, equations 4.1a to 4.1f), by HiGHS.

Workers that provide the same levels are one variable, which counts how many of them are taken.
Equation 4.1c (a level counts wherever a worker that provides it is taken) is left out: it never
changes the optimum, since a tally is only asked to be large enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, inf
from typing import TYPE_CHECKING

from steelyard.allocation.integer_program import IntegerProgram, minimise
from steelyard.allocation.worker_facts import WorkerFacts

if TYPE_CHECKING:
    import numpy as np

# HiGHS proves to 1e-6 that a whole number of workers is the fewest.
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Demand:
    """What workers must give together.

    Parameters
    ----------
    counts : mapping of factor to int
        How many levels of each must be there: B_k of equation 4.1d.
    named : mapping of factor to frozenset of str
        Levels each of which must be there.
    least, most : int, int or None
        How many workers there may be.
    """

    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    named: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    least: int = 1
    most: int | None = None

    @property
    def factors(self) -> tuple[str, ...]:
        """All that are spoken of, in a fixed order."""
        return tuple(sorted({*self.counts, *self.named}))


@dataclass(frozen=True)
class CoverProgram:
    """The program, by numbers.

    Parameters
    ----------
    kinds : tuple of tuple of str
        The names of the workers of each kind.
    provided : ndarray of bool, shape (kinds, levels)
        Which levels a worker of each kind provides.
    groups : tuple of (columns, int)
        Columns of levels, and how many of them must be there.
    least, most : int, int or None
    """

    kinds: tuple[tuple[str, ...], ...]
    provided: np.ndarray
    groups: tuple[tuple[tuple[int, ...], int], ...]
    least: int
    most: int | None


@dataclass(frozen=True)
class Solution:
    """How many workers of each kind, and a number of workers below which there is none."""

    counts: tuple[int, ...]
    bound: int


def cover_program(workers: Sequence[WorkerFacts], demand: Demand) -> CoverProgram | None:
    """The program of a demand, or None where it is out of reach even with all workers."""
    import numpy as np

    kinds: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for worker in workers:
        own = {
            (name, level)
            for name in demand.factors
            for level in worker.levels.get(name, frozenset())
        }
        kinds.setdefault(tuple(sorted(own)), []).append(worker.name)
    signatures = sorted(kinds)
    levels = sorted({level for signature in signatures for level in signature})
    index = {level: place for place, level in enumerate(levels)}
    groups = [
        (tuple(place for level, place in index.items() if level[0] == name), count)
        for name, count in sorted(demand.counts.items())
    ]
    for name, asked in sorted(demand.named.items()):
        there = tuple(index[name, level] for level in sorted(asked) if (name, level) in index)
        groups.append((there, len(asked)))
    most = len(workers) if demand.most is None else min(demand.most, len(workers))
    if demand.least > most or any(len(columns) < need for columns, need in groups):
        return None
    provided = np.zeros((len(signatures), len(levels)), dtype=bool)
    for row, signature in enumerate(signatures):
        provided[row, [index[level] for level in signature]] = True
    members = tuple(tuple(sorted(kinds[each])) for each in signatures)
    return CoverProgram(members, provided, tuple(groups), demand.least, demand.most)


def solve(
    program: CoverProgram, weights: Sequence[float], total: int | None, node_limit: int | None
) -> Solution | None:
    """The least weight of workers; None where no choice was found.

    Parameters
    ----------
    program : CoverProgram
    weights : sequence of float, one for each kind
    total : int or None
        That many workers exactly, in place of the program's bounds.
    node_limit : int or None
        Of the search. The bound says how far below what was found better ones may lie.
    """
    import numpy as np

    kinds, levels = program.provided.shape
    upper = np.array([float(len(kind)) for kind in program.kinds] + [1.0] * levels)
    costs = np.array([*weights, *([0.0] * levels)])
    matrix, low, high = _constraints(program, total)
    found = minimise(IntegerProgram(costs, upper, matrix, low, high), node_limit)
    if found is None:
        return None
    bound = program.least if found.bound is None else ceil(found.bound - _TOLERANCE)
    return Solution(found.values[:kinds], bound)


def _constraints(
    program: CoverProgram, total: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The matrix of equations 4.1b and 4.1d and of the number of workers, with its bounds."""
    import numpy as np

    kinds, levels = program.provided.shape
    rows = levels + len(program.groups) + 1
    matrix = np.zeros((rows, kinds + levels))
    # 4.1b: a level is there only if a worker that provides it is taken.
    matrix[:levels, :kinds] = program.provided.T
    matrix[:levels, kinds:] = -np.eye(levels)
    low = np.zeros(rows)
    for place, (columns, need) in enumerate(program.groups, start=levels):  # 4.1d
        matrix[place, [kinds + column for column in columns]] = 1.0
        low[place] = need
    matrix[-1, :kinds] = 1.0
    low[-1] = program.least if total is None else total
    high = np.full(rows, inf)
    most = program.most if total is None else total
    high[-1] = inf if most is None else most
    return matrix, low, high
