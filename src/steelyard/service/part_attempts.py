"""What becomes of a part whose attempt came to nothing: who tries it next, and when it is given up.

A worker may be broken, or lie. So failures count by worker: what one of them cannot run goes to
others at the same levels, and a part is given up when several workers have failed with it, or when
there is nobody else to try.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, exists, or_, select, update

from steelyard.service.service_schema import attempts, parts, submissions, workers
from steelyard.service.submissions import OPEN_STATES
from steelyard.service.workers import count_fault

# After so many failures, or failures of so many workers, a part is given up: what it needs is not
# there. Losses are mostly the fault of a host or a network; after so many it is the part that
# breaks what it runs on.
MOST_FAILURES = 3
MOST_ATTEMPTS = 20
# After one failure, or so many losses, a worker leaves a part to others, before it is quarantined.
MOST_LOSSES = 2
# For so long a part waits for another worker that is silent: hosts that boot are back by then.
WAIT_FOR_OTHERS_S = 600.0


@dataclass(frozen=True)
class Tries:
    """What came of a part so far: failures, and losses, by the number of the worker."""

    failures: Counter[int]
    losses: Counter[int]

    @property
    def tired(self) -> frozenset[int]:
        """The workers that leave the part to others."""
        lost = {worker for worker, count in self.losses.items() if count >= MOST_LOSSES}
        return frozenset(self.failures) | lost


def tries_of(connection: Connection, part_id: int) -> Tries:
    """What came of a part so far."""
    chosen = select(attempts.c.worker_id, attempts.c.outcome).where(attempts.c.part_id == part_id)
    rows = connection.execute(chosen).all()
    found = {
        outcome: Counter(row.worker_id for row in rows if row.outcome == outcome)
        for outcome in ("failed", "lost")
    }
    return Tries(found["failed"], found["lost"])


def has_troubles() -> ColumnElement[bool]:
    """Parts that a worker may have to leave to others."""
    failed = exists().where(attempts.c.part_id == parts.c.id, attempts.c.outcome == "failed")
    return or_(failed, parts.c.attempt >= MOST_LOSSES)


def may_try(connection: Connection, part: Any, worker_id: int, now_s: float) -> bool:
    """Whether a part that waits, and whose worker is gone or had troubles with it, may be given to
    a worker: it gives the same levels, and nobody has to be asked before it."""
    tries = tries_of(connection, part.id)
    if worker_id not in _able(part, tries):
        return False
    return worker_id not in tries.tired or not _others(connection, part, tries, now_s)


def _able(part: Any, tries: Tries) -> set[int]:
    """The workers at the levels of a part."""
    return {
        part.worker_id,
        *json.loads(part.substitutes),
        *tries.failures,
        *tries.losses,
    }


def _others(connection: Connection, part: Any, tries: Tries, now_s: float) -> Collection[int]:
    """Workers that can be asked to run a part with which they had no troubles."""
    chosen = select(workers.c.id).where(
        workers.c.id.in_(_able(part, tries) - tries.tired),
        workers.c.status != "quarantined",
        workers.c.heartbeat_unix_s >= now_s - WAIT_FOR_OTHERS_S,
    )
    return connection.execute(chosen).scalars().all()


def give_again(connection: Connection, part_id: int, attempt: int, now_s: float) -> None:
    """Let a part wait for its next attempt, or give it up."""
    chosen = (parts.c.id == part_id) & (parts.c.attempt == attempt)
    part = connection.execute(select(parts).where(chosen)).first()
    if part is None:
        return
    tries = tries_of(connection, part_id)
    often = tries.failures.total() >= MOST_FAILURES or attempt + 1 >= MOST_ATTEMPTS
    widely = len(tries.tired) >= MOST_FAILURES
    given_up = often and (widely or not _others(connection, part, tries, now_s))
    state = "failed" if given_up else "waiting"
    connection.execute(update(parts).where(chosen).values(state=state, attempt=attempt + 1, ran=0))
    if given_up:
        end_submission(connection, part_id)


def blame_who_failed(
    connection: Connection, part_id: int, ran_by: int, held: Collection[int]
) -> None:
    """Count a fault of each worker that could not run a part, since another one could.

    Only those that are `held`: one that failed a moment ago would be waited for in a circle.
    """
    tries = tries_of(connection, part_id)
    blamed = sorted(tries.tired.intersection(held) - {ran_by})
    if not blamed:
        return
    names = (
        select(workers.c.name, parts.c.block, submissions.c.identifier)
        .select_from(parts)
        .join(submissions, parts.c.submission_id == submissions.c.id)
        .join(workers, workers.c.id == ran_by)
        .where(parts.c.id == part_id)
    )
    row = connection.execute(names).one()
    why = f"{row.name} could run block {row.block} of the experiment {row.identifier}, it could not"
    for worker_id in blamed:
        count_fault(connection, worker_id, why, proven=worker_id in tries.failures)


def blame_who_lost(connection: Connection, part_id: int, worker_id: int, why: str) -> None:
    """Count a fault of a worker that was lost with a part, unless its experiment takes others too:
    then a program is at work that breaks what it runs on."""
    experiment = select(parts.c.submission_id).where(parts.c.id == part_id).scalar_subquery()
    by_others = (
        select(attempts.c.part_id)
        .join(parts, attempts.c.part_id == parts.c.id)
        .where(
            parts.c.submission_id == experiment,
            attempts.c.outcome == "lost",
            attempts.c.worker_id != worker_id,
        )
    )
    if connection.execute(by_others.limit(1)).first() is None:
        count_fault(connection, worker_id, why)


def end_attempt(
    connection: Connection, part_id: int, attempt: int, outcome: str, message: str, now_s: float
) -> None:
    """What came of an attempt."""
    chosen = (attempts.c.part_id == part_id) & (attempts.c.attempt == attempt)
    values = {"outcome": outcome, "message": message, "ended_unix_s": now_s}
    connection.execute(update(attempts).where(chosen).values(values))


def end_submission(connection: Connection, part_id: int) -> None:
    """An experiment of which no part waits or is given has ended, unless it goes on."""
    number = select(parts.c.submission_id).where(parts.c.id == part_id).scalar_subquery()
    left = (
        select(parts.c.id)
        .where(parts.c.submission_id == number, parts.c.state.in_(("waiting", "given")))
        .limit(1)
    )
    if connection.execute(left).first() is None:
        is_open = submissions.c.state.in_(OPEN_STATES) & (submissions.c.going_on == "")
        chosen = (submissions.c.id == number) & is_open
        connection.execute(update(submissions).where(chosen).values(state="done"))
