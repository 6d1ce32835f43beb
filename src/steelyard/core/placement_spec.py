"""Which worker of a service ran which block of an experiment, and what the worker is."""

from __future__ import annotations

from dataclasses import dataclass

# The column of tables that says where a trial ran.
WORKER = "worker"
# What hosts of the same make have in common.
PLATFORM = "platform"
# Factors that a host is brought to, so that blocks on one worker can have unlike levels of them.
BROUGHT = ("image", "libraries", "reboot")
# Of what is known of the place of a trial, what tables of measurements have columns for.
PLACE_COLUMNS = (WORKER, PLATFORM, *BROUGHT)


@dataclass(frozen=True)
class PlacedWorker:
    """A worker by its name, with its level of each factor of hosts; one that was brought to several
    levels is there once for each.

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

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of `factors` that tables of measurements have columns for."""
        return tuple(name for name in PLACE_COLUMNS if name in self.factors)

    @property
    def varied(self) -> tuple[str, ...]:
        """Of those columns the ones that an analysis looks at unless told otherwise: the worker,
        where there are several, and what hosts were brought to."""
        return tuple(
            name
            for name in (WORKER, *BROUGHT)
            if len({_level(worker, name) for worker in self.workers}) > 1
        )

    def level(self, block: int, factor: str) -> str:
        """At which level of a factor a block was run; empty where that is not known."""
        if not 0 <= block < len(self.blocks):
            return ""
        return _level(self.workers[self.blocks[block]], factor)


def _level(worker: PlacedWorker, factor: str) -> str:
    return worker.name if factor == WORKER else dict(worker.levels).get(factor, "")
