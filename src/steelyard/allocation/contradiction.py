"""The smallest set of requirements that cannot be met together.

By implicit hitting sets (Ignatiev, Previti, Liffiton and Marques-Silva, CP 2015): a set of
requirements is contradictory exactly if it has one of every set whose removal leaves the others
possible. The smallest set that hits all such sets found so far is the answer as soon as it is
contradictory itself; otherwise what it leaves out shows one more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import combinations

Possible = Callable[[Collection[int]], bool]


def smallest_contradiction(count: int, possible: Possible) -> tuple[int, ...]:
    """The fewest of the requirements 0 to `count` - 1 that contradict each other.

    Parameters
    ----------
    count : int
    possible : callable
        Whether all requirements of a collection can be met. Whatever is possible stays so with
        fewer requirements; that of all of them must be impossible.

    Returns
    -------
    tuple of int
        In rising order; the first of equal size in the order of their numbers.
    """
    to_hit: list[frozenset[int]] = []
    while True:
        chosen = _smallest_hitting(count, to_hit)
        if not possible(chosen):
            return chosen
        kept = set(chosen)
        for item in range(count):
            if item not in kept and possible((*kept, item)):
                kept.add(item)
        to_hit.append(frozenset(range(count)) - kept)


def _smallest_hitting(count: int, to_hit: list[frozenset[int]]) -> tuple[int, ...]:
    """The fewest numbers that have one of each set: requirements are a handful, so by size."""
    relevant = sorted(set[int]().union(*to_hit))
    for size in range(len(relevant) + 1):
        for chosen in combinations(relevant, size):
            if all(not each.isdisjoint(chosen) for each in to_hit):
                return chosen
    return tuple(range(count))
