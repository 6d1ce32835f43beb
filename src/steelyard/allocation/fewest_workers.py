"""The fewest workers that give the levels asked for, and whether they are proved to be so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.allocation.cover_program import (
    CoverProgram,
    Demand,
    Solution,
    cover_program,
    solve,
)
from steelyard.allocation.cover_search import smaller_cover
from steelyard.allocation.worker_facts import WorkerFacts
from steelyard.core.rng import derive_seed

# Up to so many kinds of worker the optimum is always proved. Beyond, the search has so many nodes:
# nodes and not seconds, so that the same seed gives the same workers on every machine.
_PROVED_KINDS = 40
_NODES = 1
_WEIGHTS = 1 << 20


@dataclass(frozen=True)
class Fewest:
    """Workers that meet a demand.

    Parameters
    ----------
    workers : tuple of str
        In order of name.
    bound : int
        No set of fewer workers than this meets the demand; where it is their number, they are the
        fewest.
    """

    workers: tuple[str, ...]
    bound: int


def fewest_workers(workers: Sequence[WorkerFacts], demand: Demand, seed: int) -> Fewest | None:
    """The fewest workers that meet a demand; None where none do.

    Among sets of the same size one is drawn from the seed: by random weights of the kinds of
    worker, or by a random walk among such sets where there are many kinds; within a kind with
    equal probability.
    """
    program = cover_program(workers, demand)
    if program is None:
        return None
    small = len(program.kinds) <= _PROVED_KINDS
    first = _first(program, small=small)
    if first is None:
        return None
    if small:
        counts = _drawn(program, first.counts, seed)
    else:
        counts = smaller_cover(program, first.counts, derive_seed(seed, "search"))
    return Fewest(_members(program, counts, seed), min(first.bound, sum(counts)))


def _first(program: CoverProgram, *, small: bool) -> Solution | None:
    """Some workers that meet the demand, and how few might."""
    alike = [1.0] * len(program.kinds)
    found = None if small else solve(program, alike, None, _NODES)
    return solve(program, alike, None, None) if found is None else found


def _drawn(program: CoverProgram, counts: tuple[int, ...], seed: int) -> tuple[int, ...]:
    """As many workers as `counts`, drawn by weights of their kinds."""
    weights = [
        1.0 + derive_seed(seed, "kind", *kind) % _WEIGHTS / _WEIGHTS for kind in program.kinds
    ]
    found = solve(program, weights, sum(counts), _NODES)
    return counts if found is None else found.counts


def _members(program: CoverProgram, counts: Sequence[int], seed: int) -> tuple[str, ...]:
    """Which workers of each kind: drawn, since those of a kind give the same."""
    taken: list[str] = []
    for kind, count in zip(program.kinds, counts, strict=True):
        taken += sorted(kind, key=lambda name: derive_seed(seed, "worker", name))[:count]
    return tuple(sorted(taken))
