"""Which worker runs which block: a block stays on one, so that ratios are within a host."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.core.rng import derive_seed


def block_workers(workers: Sequence[str], replicates: int, seed: int) -> tuple[str, ...]:
    """The worker of each block: `replicates` blocks of every worker.

    Each round gives one block to each worker, in an order drawn for the round, so that an
    experiment that ends early has about as many blocks of each.
    """
    places: list[str] = []
    for round_ in range(replicates):
        places += sorted(workers, key=lambda name: derive_seed(seed, "round", round_, name))
    return tuple(places)
