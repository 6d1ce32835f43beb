"""Which part a worker is given next, and what becomes of parts whose worker is lost.

A part that was given out may be run twice: by a worker that was taken for lost, and by the one that
it went to. What is committed is committed once, by `trial_commits`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, exists, insert, or_, select, update

from steelyard.service.part_attempts import (
    blame_who_lost,
    end_attempt,
    give_again,
    has_troubles,
    may_try,
)
from steelyard.service.rehearsals import give_rehearsals_back
from steelyard.service.service_schema import attempts, parts, submissions, workers
from steelyard.service.submissions import OPEN_STATES
from steelyard.service.submitted_packages import packages_of
from steelyard.service.workers import BOOT_LIMIT_S, HEARTBEAT_LIMIT_S, hold_workers, is_silent


@dataclass(frozen=True)
class GivenPart:
    """What a worker gets: the experiment file, which places of its plan to run, the digests of its
    benchmark packages by their names in the file, what the worker is to be brought to, before
    what it is booted anew, and how many of the trials this attempt has run before a boot."""

    id: int
    attempt: int
    experiment: str
    file: str
    specification: str
    plan: str
    positions: tuple[int, ...]
    packages: Mapping[str, str] = field(default_factory=dict[str, str])
    levels: Mapping[str, str] = field(default_factory=dict[str, str])
    reboot: str = "never"
    ran: int = 0


def next_part(connection: Connection, worker_id: int, now_s: float) -> GivenPart | None:
    """Give a worker its next part, or None where there is none.

    By priority, then by the age of the experiment, then in the order that was drawn. What the
    worker was given before and has not sent back is lost: it would not ask otherwise. That is no
    fault of the worker's: the answer to its last request may have been lost on its way.
    """
    lose_held(connection, worker_id, now_s)
    worker = connection.execute(select(workers).where(workers.c.id == worker_id)).first()
    if worker is None or worker.status == "quarantined":
        return None
    asked = update(workers).where(workers.c.id == worker_id)
    connection.execute(asked.values(asked_unix_s=now_s))
    row = _next_row(connection, worker_id, now_s)
    if row is None or _boot(row) not in ("", worker.booted_for):
        return None
    if not _boot(row):
        # What runs now leaves the host other than a boot does.
        connection.execute(asked.values(booted_for=""))
    return _given(connection, row, worker_id, now_s)


def next_boot(connection: Connection, worker_id: int, now_s: float) -> str | None:
    """What a worker must have been booted for before it is given its next part; empty where any
    boot will do, None where no part waits for it."""
    row = _next_row(connection, worker_id, now_s)
    return None if row is None else _boot(row)


def _boot(row: Any) -> str:
    """What names the boot that a part takes. An attempt that was lost leaves a host that is no
    longer as it was booted."""
    reboot = _reboot(row)
    if reboot == "experiment":
        return str(row.identifier)
    if reboot == "never":
        return ""
    name = f"{row.identifier} {row.block} {row.attempt}"
    return f"{name} {row.ran}" if reboot == "trial" else name


def _reboot(row: Any) -> str:
    """Before what a part has its worker booted: as its block says, else as its experiment."""
    return str(json.loads(row.levels).get("reboot", row.reboot))


def _next_row(connection: Connection, worker_id: int, now_s: float) -> Any:
    """Its own, or another's that it may run, whichever comes first."""
    found = [_own(connection, worker_id), _troubled(connection, worker_id, now_s)]
    return min((row for row in found if row is not None), key=_order, default=None)


def _order(row: Any) -> tuple[int, int, int]:
    return -row.priority, row.submission_id, row.place


def _waiting() -> Any:
    """Parts that may be given out, the next one first; who asks for one has it locked."""
    return _unlocked().with_for_update(of=parts, skip_locked=True, key_share=True)


def _unlocked() -> Any:
    return (
        select(parts, submissions.c.identifier, submissions.c.reboot, submissions.c.priority)
        .join(submissions, parts.c.submission_id == submissions.c.id)
        .where(parts.c.state == "waiting", submissions.c.state.in_(OPEN_STATES))
        .order_by(submissions.c.priority.desc(), submissions.c.id, parts.c.place)
    )


def _own(connection: Connection, worker_id: int) -> Any:
    chosen = _waiting().where(parts.c.worker_id == worker_id, ~has_troubles())
    return connection.execute(chosen.limit(1)).first()


def _troubled(connection: Connection, worker_id: int, now_s: float) -> Any:
    """A part of a worker that is gone, or that had troubles with it, for which this one gives the
    same levels; of its own such parts those that nobody else can be asked for."""
    lost = select(workers.c.id).where(workers.c.status.in_(("gone", "quarantined")))
    chosen = _unlocked().where(or_(parts.c.worker_id.in_(lost), has_troubles()))
    # Looked at without a lock: others that ask meanwhile would find nothing.
    for row in connection.execute(chosen).all():
        if may_try(connection, row, worker_id, now_s):
            mine = connection.execute(_waiting().where(parts.c.id == row.id)).first()
            if mine is not None:
                return mine
    return None


def _given(connection: Connection, row: Any, worker_id: int, now_s: float) -> GivenPart:
    attempt, ran = _begun_attempt(connection, row, worker_id, now_s)
    taken = update(parts).where(parts.c.id == row.id)
    values = {"state": "given", "worker_id": worker_id, "attempt": attempt, "ran": ran}
    connection.execute(taken.values(values))
    begun = update(submissions).where(submissions.c.id == row.submission_id)
    connection.execute(begun.where(submissions.c.state == "queued").values(state="running"))
    kept = select(submissions.c.file, submissions.c.specification, submissions.c.plan)
    sent = connection.execute(kept.where(submissions.c.id == row.submission_id)).one()
    positions = tuple(json.loads(row.positions))
    return GivenPart(
        *(row.id, attempt, row.identifier),
        *(sent.file, sent.specification, sent.plan, positions),
        packages_of(connection, row.submission_id),
        json.loads(row.levels),
        _reboot(row),
        ran,
    )


def _begun_attempt(
    connection: Connection, row: Any, worker_id: int, now_s: float
) -> tuple[int, int]:
    """The attempt of a part that is given out, and how many trials it has run: one that goes on
    after a boot is the same attempt on the same host, and on another host the next."""
    attempt = int(row.attempt)
    if row.ran:
        if row.worker_id == worker_id:
            return attempt, int(row.ran)
        why = "its host did not come back from a boot"
        end_attempt(connection, row.id, attempt, "lost", why, now_s)
        attempt += 1
    begun = {"part_id": row.id, "attempt": attempt, "worker_id": worker_id, "outcome": "given"}
    connection.execute(insert(attempts).values({**begun, "given_unix_s": now_s}))
    return attempt, 0


def keep_ran(connection: Connection, worker_id: int, part_id: int, attempt: int, ran: int) -> bool:
    """Let a part that was given to a worker wait for the boot before its next trial, of which so
    many have run; whether it was given to it, and has more."""
    chosen = (
        (parts.c.id == part_id)
        & (parts.c.attempt == attempt)
        & (parts.c.worker_id == worker_id)
        & (parts.c.state == "given")
    )
    row = connection.execute(select(parts).where(chosen).with_for_update(key_share=True)).first()
    if row is None or not row.ran < ran < len(json.loads(row.positions)):
        return False
    connection.execute(update(parts).where(chosen).values(state="waiting", ran=ran))
    return True


def lose_silent_workers(connection: Connection, now_s: float) -> list[str]:
    """Take workers without a heartbeat for gone, and what they were given back, as from those in
    quarantine; the names of those that are gone.

    A heartbeat of the future is one of a clock that was set back since: it counts as of now.
    """
    # Of workers that another transaction holds nothing need be known: they are there.
    ahead = select(workers.c.id).where(workers.c.heartbeat_unix_s > now_s)
    late = (
        connection.execute(ahead.with_for_update(skip_locked=True, key_share=True)).scalars().all()
    )
    set_back = update(workers).where(workers.c.id.in_(late))
    connection.execute(set_back.values(heartbeat_unix_s=now_s))
    silent = (
        select(workers.c.id, workers.c.name, workers.c.status)
        .where(is_silent(now_s), workers.c.status.not_in(("gone", "quarantined")))
        .order_by(workers.c.id)
        .with_for_update(skip_locked=True, key_share=True)
    )
    names: list[str] = []
    for row in connection.execute(silent).all():
        connection.execute(update(workers).where(workers.c.id == row.id).values(status="gone"))
        limit_s = BOOT_LIMIT_S if row.status == "rebooting" else HEARTBEAT_LIMIT_S
        why = f"no sign of life for {limit_s:.0f} s"
        give_rehearsals_back(connection, row.id, why)
        lose_worker(connection, row.id, now_s, why)
        names.append(row.name)
    _lose_quarantined(connection, now_s)
    _end_finished(connection)
    return names


def _lose_quarantined(connection: Connection, now_s: float) -> None:
    """Give back what workers in quarantine were given: nothing that they send is taken."""
    held = (
        select(parts.c.worker_id)
        .join(workers, parts.c.worker_id == workers.c.id)
        .where(parts.c.state == "given", workers.c.status == "quarantined")
        .distinct()
    )
    for worker_id in connection.execute(held).scalars().all():
        lose_held(connection, worker_id, now_s, "its worker is in quarantine")


def _end_finished(connection: Connection) -> None:
    """End experiments whose last parts were ended by two at once: each saw the other's as it was
    before. What another transaction holds is left to the next look."""
    left = exists().where(
        parts.c.submission_id == submissions.c.id, parts.c.state.in_(("waiting", "given"))
    )
    finished = select(submissions.c.id).where(
        submissions.c.state.in_(OPEN_STATES), submissions.c.going_on == "", ~left
    )
    free = finished.with_for_update(skip_locked=True, key_share=True)
    for number in connection.execute(free).scalars().all():
        ended = update(submissions).where(submissions.c.id == number)
        connection.execute(ended.values(state="done"))


def lose_worker(connection: Connection, worker_id: int, now_s: float, why: str) -> None:
    """Give back what a worker was given that is lost itself."""
    hold_workers(connection, {worker_id})
    for part_id in lose_held(connection, worker_id, now_s, why):
        blame_who_lost(connection, part_id, worker_id, why)


def lose_held(
    connection: Connection,
    worker_id: int,
    now_s: float,
    why: str = "the worker asked for another part",
) -> list[int]:
    """Give back what a worker was given; which parts that were."""
    given = (
        select(parts)
        .where(parts.c.worker_id == worker_id, parts.c.state == "given")
        .order_by(parts.c.id)
        .with_for_update(key_share=True)
    )
    lost = connection.execute(given).all()
    for row in lost:
        end_attempt(connection, row.id, row.attempt, "lost", why, now_s)
        give_again(connection, row.id, row.attempt, now_s)
    return [row.id for row in lost]
