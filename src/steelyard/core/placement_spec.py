"""Which worker of a service ran which block of an experiment, and what the worker is."""

from __future__ import annotations

from dataclasses import dataclass

# The column of tables that says where a trial ran.
WORKER = "worker"


@dataclass(frozen=True)
class PlacedWorker:
    """A worker by its name, with its level of each factor of hosts.

    Parameters
    ----------
    name : str
    levels : tuple of (factor, level)
        Such as ``("platform", "EPYC, x86_64, 16 CPUs, 64 GiB")``.
    """

    name: str
    levels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class PlacementSpec:
    """The workers of an experiment, and for each block the index of the one that runs it."""

    workers: tuple[PlacedWorker, ...]
    blocks: tuple[int, ...]

    @property
    def factors(self) -> tuple[str, ...]:
        """The columns that tables have by it: the worker itself, then its factors."""
        names = dict.fromkeys(name for worker in self.workers for name, _ in worker.levels)
        return (WORKER, *(name for name in names if name != WORKER))

    def level(self, block: int, factor: str) -> str:
        """At which level of a factor a block was run; empty where that is not known."""
        if not 0 <= block < len(self.blocks):
            return ""
        worker = self.workers[self.blocks[block]]
        return worker.name if factor == WORKER else dict(worker.levels).get(factor, "")
