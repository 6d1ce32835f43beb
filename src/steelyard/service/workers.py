"""Workers: enrolled by a token, known by their facts, alive by their heartbeats."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, insert, or_, select, update

from steelyard.core.errors import UsageError
from steelyard.service.accounts import digest_of, new_token
from steelyard.service.service_schema import workers

# Without a sign of life for so long a worker is gone, and what it was given goes elsewhere.
HEARTBEAT_LIMIT_S = 60.0
# One that boots itself has so long to come back. A cluster says by itself how its hosts are.
BOOT_LIMIT_S = 600.0
# So many faults one after the other, and nothing more is given to a worker until someone looks.
MOST_FAULTS = 3
# A loss may be bad luck, and is forgiven by the next block that was run. A fault that is proven
# (a result that cannot be, a block that another worker could run) takes so many blocks.
BLOCKS_FOR_A_PROVEN_FAULT = 10
STATUSES = (
    "idle",
    "reserved",
    "setup",
    "running",
    "collecting",
    "rebooting",
    "quarantined",
    "gone",
)


@dataclass(frozen=True)
class Worker:
    """A worker as the database has it."""

    id: int
    name: str
    status: str
    facts: Mapping[str, Any]
    enrolled_unix_s: float
    heartbeat_unix_s: float
    faults: int
    reason: str
    cluster: str = ""


def _worker(row: Any) -> Worker:
    return Worker(
        row.id,
        row.name,
        row.status,
        json.loads(row.facts),
        row.enrolled_unix_s,
        row.heartbeat_unix_s,
        row.faults,
        row.reason,
        row.cluster,
    )


def enrol_worker(
    connection: Connection, account_id: int, name: str, facts: Mapping[str, Any], now_s: float
) -> tuple[int, str]:
    """Enrol a host, again too: its number, and a token that is its own from now on.

    Raises
    ------
    UsageError
        Another account has enrolled a worker of this name.
    """
    token = new_token()
    found = connection.execute(select(workers).where(workers.c.name == name)).first()
    values = {
        "digest": digest_of(token),
        "facts": json.dumps(dict(facts), sort_keys=True),
        "status": "idle",
        "heartbeat_unix_s": now_s,
        "faults": 0,
        "distrust": 0,
        "reason": "",
    }
    if found is None:
        fresh = {**values, "name": name, "account_id": account_id, "enrolled_unix_s": now_s}
        statement = insert(workers).values(fresh).returning(workers.c.id)
        return connection.execute(statement).scalar_one(), token
    if found.account_id != account_id:
        raise UsageError(
            f"Another account has enrolled a worker called {name!r}. Give this one another name: "
            "--name NAME.",
            field="--name",
        )
    connection.execute(update(workers).where(workers.c.id == found.id).values(values))
    return found.id, token


def worker_of(connection: Connection, token: str) -> Worker | None:
    """Whose token it is; None where it is no worker's."""
    row = connection.execute(select(workers).where(workers.c.digest == digest_of(token))).first()
    return None if row is None else _worker(row)


def all_workers(connection: Connection) -> Sequence[Worker]:
    """Every worker that was ever enrolled, by name."""
    return [_worker(row) for row in connection.execute(select(workers).order_by(workers.c.name))]


def as_it_is(worker: Worker, now_s: float) -> Worker:
    """A worker, gone where it was silent for too long and nobody has noted that yet."""
    there = worker.status not in ("gone", "quarantined")
    boots = worker.status == "rebooting" and not worker.cluster
    limit_s = BOOT_LIMIT_S if boots else HEARTBEAT_LIMIT_S
    if there and worker.heartbeat_unix_s < now_s - limit_s:
        return replace(worker, status="gone")
    return worker


def is_silent(now_s: float) -> ColumnElement[bool]:
    """Workers that have shown no sign of life for too long."""
    boots = (workers.c.status == "rebooting") & (workers.c.cluster == "")
    last_s = workers.c.heartbeat_unix_s
    return or_(last_s < now_s - BOOT_LIMIT_S, and_(~boots, last_s < now_s - HEARTBEAT_LIMIT_S))


def beat(connection: Connection, worker_id: int, status: str, now_s: float) -> None:
    """A sign of life. A worker that is quarantined stays so, whatever it says of itself.

    Raises
    ------
    UsageError
        There is no such status.
    """
    if status not in STATUSES:
        raise UsageError(
            f"A worker is {', '.join(STATUSES)}; it cannot be {status!r}.", field="status"
        )
    alive = update(workers).where(workers.c.id == worker_id)
    connection.execute(alive.values(heartbeat_unix_s=now_s))
    connection.execute(alive.where(workers.c.status != "quarantined").values(status=status))


def hold_workers(connection: Connection, numbers: Collection[int]) -> None:
    """Let no other transaction change workers, before parts of theirs are held, and experiments
    after those: always in this order, so that no two transactions wait for each other in a circle.

    Others may refer to what is held (FOR NO KEY UPDATE): whoever sends an experiment names workers.
    """
    chosen = select(workers.c.id).where(workers.c.id.in_(numbers)).order_by(workers.c.id)
    connection.execute(chosen.with_for_update(key_share=True)).all()


def count_fault(
    connection: Connection, worker_id: int, reason: str, *, proven: bool = False
) -> None:
    """One more fault; after `MOST_FAULTS` the worker is quarantined."""
    points = BLOCKS_FOR_A_PROVEN_FAULT if proven else 0
    chosen = update(workers).where(workers.c.id == worker_id)
    connection.execute(
        chosen.values(faults=workers.c.faults + 1, distrust=workers.c.distrust + points)
    )
    too_many = or_(
        workers.c.faults >= MOST_FAULTS,
        # Points went down since the first of them, unless nothing was run.
        workers.c.distrust > (MOST_FAULTS - 1) * BLOCKS_FOR_A_PROVEN_FAULT,
    )
    connection.execute(chosen.where(too_many).values(status="quarantined", reason=reason))


def forgive_faults(connection: Connection, worker_id: int) -> None:
    """It did what it was given: losses count only one after the other, proven faults fade."""
    chosen = update(workers).where(workers.c.id == worker_id)
    connection.execute(chosen.values(faults=0))
    less = chosen.where(workers.c.distrust > 0)
    connection.execute(less.values(distrust=workers.c.distrust - 1))


def release_worker(connection: Connection, name: str) -> int | None:
    """End a quarantine; the number of the worker, None where there was none."""
    chosen = (workers.c.name == name) & (workers.c.status == "quarantined")
    free = update(workers).where(chosen).values(status="idle", faults=0, distrust=0, reason="")
    return connection.execute(free.returning(workers.c.id)).scalar()
