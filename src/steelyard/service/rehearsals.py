"""Packages that workers run once, without a clock, so that people see what their scripts print."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from steelyard.service.service_schema import rehearsals, workers

MOST_ATTEMPTS = 3


@dataclass(frozen=True)
class NewRehearsal:
    """What is to be run, and by which worker.

    `package` is the specification of the package as JSON, `name` what the experiment file calls it.
    """

    worker_id: int
    architecture: str
    name: str
    digest: str
    package: Mapping[str, Any]


@dataclass(frozen=True)
class Rehearsal:
    """One that was asked for, and how it went.

    `state` is waiting, given or done; `problem` is empty where nothing went wrong.
    """

    id: int
    attempt: int
    worker: str
    architecture: str
    name: str
    digest: str
    package: Mapping[str, Any]
    state: str
    problem: str
    output: str


def add_rehearsals(
    connection: Connection, account_id: int, batch: str, asked: Sequence[NewRehearsal], now_s: float
) -> None:
    """Let workers run some packages once."""
    rows = [
        {
            **vars(each),
            "package": json.dumps(each.package),
            "batch": batch,
            "account_id": account_id,
            "state": "waiting",
            "created_unix_s": now_s,
        }
        for each in asked
    ]
    connection.execute(insert(rehearsals), rows)


def rehearsals_of(connection: Connection, account_id: int, batch: str) -> list[Rehearsal]:
    """Those that an account asked for at once, in that order."""
    own = (rehearsals.c.batch == batch) & (rehearsals.c.account_id == account_id)
    return [_rehearsal(row) for row in connection.execute(_all().where(own))]


def next_rehearsal(connection: Connection, worker_id: int) -> Rehearsal | None:
    """Give a worker its next one, or None. What it was given before and did not end waits again,
    or has failed after `MOST_ATTEMPTS`."""
    give_rehearsals_back(connection, worker_id, "its worker ended, or was silent for too long")
    chosen = _all().where(
        rehearsals.c.worker_id == worker_id,
        rehearsals.c.state == "waiting",
        workers.c.status != "quarantined",
    )
    row = connection.execute(chosen.limit(1)).first()
    if row is None:
        return None
    taken = update(rehearsals).where(rehearsals.c.id == row.id)
    connection.execute(taken.values(state="given"))
    return _rehearsal(row)


def give_rehearsals_back(connection: Connection, worker_id: int, why: str) -> None:
    """What a worker was given and did not end waits again, or has failed."""
    given = (rehearsals.c.worker_id == worker_id) & (rehearsals.c.state == "given")
    often = given & (rehearsals.c.attempt >= MOST_ATTEMPTS - 1)
    connection.execute(update(rehearsals).where(often).values(state="done", problem=why))
    again = {"state": "waiting", "attempt": rehearsals.c.attempt + 1}
    connection.execute(update(rehearsals).where(given).values(again))


def end_rehearsal(
    connection: Connection, worker_id: int, told: tuple[int, int], problem: str, output: str
) -> bool:
    """What came of one, named by its number and its attempt; whether it was given to the worker."""
    number, attempt = told
    chosen = (
        (rehearsals.c.id == number)
        & (rehearsals.c.attempt == attempt)
        & (rehearsals.c.worker_id == worker_id)
        & (rehearsals.c.state == "given")
    )
    values = {"state": "done", "problem": problem, "output": output}
    return connection.execute(update(rehearsals).where(chosen).values(values)).rowcount > 0


def _all() -> Any:
    named = select(rehearsals, workers.c.name.label("worker"))
    return named.join(workers, rehearsals.c.worker_id == workers.c.id).order_by(rehearsals.c.id)


def _rehearsal(row: Any) -> Rehearsal:
    return Rehearsal(
        row.id,
        row.attempt,
        row.worker,
        row.architecture,
        row.name,
        row.digest,
        json.loads(row.package),
        row.state,
        row.problem,
        row.output,
    )
