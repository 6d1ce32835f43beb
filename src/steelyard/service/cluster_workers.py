"""Workers that something else starts, a cluster's engine: what waits for them, and how they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, exists, select, update

from steelyard.service.part_queue import next_boot
from steelyard.service.service_schema import parts, workers


@dataclass(frozen=True)
class ClusterWorker:
    """A host of a cluster as the service knows it.

    Parameters
    ----------
    id : int
    name : str
    status : str
        One of `workers.STATUSES`.
    asked_unix_s : float or None
        When a worker on it last asked for a part.
    holds_part : bool
        It was given one, and has not sent it back.
    next_boot : str or None
        What it must have been booted for before it is given its next part: empty where any boot
        will do, None where no part waits for it.
    booted_for : str
        What it was booted for last.
    """

    id: int
    name: str
    status: str
    asked_unix_s: float | None
    holds_part: bool
    next_boot: str | None
    booted_for: str

    @property
    def has_work(self) -> bool:
        """Whether a part waits for it."""
        return self.next_boot is not None

    @property
    def needs_boot(self) -> bool:
        """Whether it must be booted before it is given its next part."""
        return self.next_boot not in (None, "", self.booted_for)


def cluster_workers(
    connection: Connection, names: Iterable[str], now_s: float
) -> dict[str, ClusterWorker]:
    """Those of some hosts that are enrolled, by name."""
    holds = exists().where(parts.c.worker_id == workers.c.id, parts.c.state == "given")
    chosen = select(workers, holds.label("holds_part")).where(workers.c.name.in_(tuple(names)))
    found: dict[str, ClusterWorker] = {}
    for row in connection.execute(chosen).all():
        found[row.name] = ClusterWorker(
            row.id,
            row.name,
            row.status,
            row.asked_unix_s,
            bool(row.holds_part),
            None if row.status == "quarantined" else next_boot(connection, row.id, now_s),
            row.booted_for,
        )
    return found


def vouch_for(
    connection: Connection, worker_id: int, cluster: str, status: str, now_s: float
) -> None:
    """A sign of life that a cluster gives for a host on which no worker runs now."""
    alive = update(workers).where(workers.c.id == worker_id)
    connection.execute(alive.values(heartbeat_unix_s=now_s, cluster=cluster))
    connection.execute(alive.where(workers.c.status != "quarantined").values(status=status))


def keep_boot(connection: Connection, worker_id: int, booted_for: str) -> None:
    """Note what a host was booted for."""
    chosen = update(workers).where(workers.c.id == worker_id)
    connection.execute(chosen.values(booted_for=booted_for))
