"""Levels that hosts are brought to: which are used, and which block of a worker has which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from steelyard.allocation.block_places import block_workers
from steelyard.allocation.hosts_asked import HostsAsked
from steelyard.allocation.level_shares import level_count
from steelyard.allocation.worker_facts import WorkerFacts
from steelyard.core.rng import derive_seed

Levels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class BlockPlace:
    """Where a block is run: the worker, its level of each factor that it is brought to, and which
    block of another worker it repeats."""

    worker: str
    levels: Levels = ()
    twin: int | None = None


def used_levels(
    asked: HostsAsked, workers: Sequence[WorkerFacts], seed: int
) -> dict[str, tuple[str, ...]]:
    """The levels of each factor that hosts are brought to: those named, or as many as the share
    says of those that `workers`, which run the experiment, have together.

    They are drawn so that each worker has one of them, where so many allow that: else there are as
    many more as it takes.
    """
    found = {name: asked.named[name] for name in asked.brought if name in asked.named}
    for name in asked.brought:
        if name in asked.shares:
            there = [worker.levels.get(name, frozenset()) for worker in workers]
            found[name] = _drawn(there, asked.shares[name], seed, name)
    return found


def _drawn(
    there: Sequence[frozenset[str]], share_ratio: float, seed: int, factor: str
) -> tuple[str, ...]:
    """A share of the levels of all workers, of which `there` has those of each."""
    known = frozenset[str]().union(*there)
    if not known:
        return ()
    order = sorted(known, key=lambda level: derive_seed(seed, "share", factor, level))
    count = level_count(share_ratio, len(known))
    chosen: list[str] = []
    # Where every worker has every level, each set of them has the same probability.
    left = [] if all(own == known for own in there) else [own for own in there if own]
    while left:
        # First those that most of the workers have that have none so far; as drawn among equals.
        best = max(order, key=lambda level: sum(level in own for own in left))
        chosen.append(best)
        left = [own for own in left if best not in own]
    more = [level for level in order if level not in chosen]
    return tuple(sorted([*chosen, *more[: max(0, count - len(chosen))]]))


def block_places(
    workers: Sequence[WorkerFacts],
    used: Mapping[str, Sequence[str]],
    replicates: int,
    seed: int,
) -> tuple[BlockPlace, ...]:
    """The place of each block: `replicates` of every worker at each combination of the levels that
    it has of those `used`; workers without one are left out.
    """
    places: list[BlockPlace] = []
    for worker in workers:
        own = [[level for level in used[name] if level in worker.levels[name]] for name in used]
        for levels in product(*own):
            places.append(BlockPlace(worker.name, tuple(zip(used, levels, strict=True))))
    return rounds(places, replicates, seed)


def rounds(places: Sequence[BlockPlace], replicates: int, seed: int) -> tuple[BlockPlace, ...]:
    """So many blocks of each place: each round gives one to each, in an order drawn for it."""
    named = {"\0".join((place.worker, *dict(place.levels).values())): place for place in places}
    return tuple(named[name] for name in block_workers(tuple(named), replicates, seed))
