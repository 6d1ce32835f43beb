"""Builds that one worker makes for all of its platform: who makes which, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from steelyard.core.errors import UsageError
from steelyard.service.service_schema import (
    attempts,
    parts,
    shared_builds,
    submissions,
    unshared_builds,
    workers,
)
from steelyard.service.workers import HEARTBEAT_LIMIT_S, Worker

# A worker that has nothing to do asks more often than this.
ASKING_LIMIT_S = 20.0
Doing = Literal["make", "wait", "fetch", "failed", "own"]


@dataclass(frozen=True)
class BuildPlace:
    """A build that an attempt of a part asks for, on a worker of a platform."""

    platform: str
    key: str
    worker_id: int
    part_id: int
    attempt: int
    submission_id: int = 0


@dataclass(frozen=True)
class WantedBuild:
    """What a worker does about a build that it wants.

    Parameters
    ----------
    doing : str
        ``make`` it and send it, ``wait`` for `worker`, ``fetch`` it, let it be ``failed``, or make
        its ``own``, which nobody wants.
    worker : str
        Whose build it is, or is going to be.
    digest : str
        SHA-256 of its archive.
    message : str
        Why it failed, or is not shared.
    """

    doing: Doing
    worker: str = ""
    digest: str = ""
    size_bytes: int = 0
    message: str = ""


_MAKE = WantedBuild("make")


@dataclass(frozen=True)
class GivenBuild:
    """What a build host gets: the attempt of a part that waits for builds, and its experiment."""

    part_id: int
    attempt: int
    experiment: str
    file: str
    specification: str
    plan: str


def submission_of_held(connection: Connection, worker_id: int, part_id: int, attempt: int) -> int:
    """The submission of a part that a worker holds now, or for which it makes builds.

    Raises
    ------
    UsageError
        It was not given this attempt, or has it no more.
    """
    chosen = select(parts.c.submission_id).where(
        parts.c.id == part_id,
        parts.c.attempt == attempt,
        parts.c.worker_id == worker_id,
        parts.c.state == "given",
    )
    found = connection.execute(chosen).scalar()
    if found is None:
        made = select(parts.c.submission_id).join(
            shared_builds, shared_builds.c.part_id == parts.c.id
        )
        chosen = made.where(
            shared_builds.c.worker_id == worker_id,
            shared_builds.c.part_id == part_id,
            shared_builds.c.attempt == attempt,
        )
        found = connection.execute(chosen.limit(1)).scalar()
    if found is None:
        raise UsageError("No such part is given to this worker now.", field="part")
    return int(found)


def want_build(
    connection: Connection, place: BuildPlace, now_s: float, host: Worker | None = None
) -> WantedBuild:
    """What a worker does about a build: the first that asks makes it, as long as it is there, or
    has `host` make it, which does nothing else now."""
    why = _unshared(connection, place)
    if why is not None:
        return why
    row = _row(connection, place)
    if row is None:
        # Another may have asked at the same instant: one row stays, and is read again.
        values = {"platform": place.platform, "key": place.key, **_maker(place, now_s)}
        dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
        connection.execute(dialect.insert(shared_builds).values(values).on_conflict_do_nothing())
        row = _row(connection, place)
    if row is not None and row.state == "kept":
        connection.execute(_of(update(shared_builds), place).values(used_unix_s=now_s))
        return WantedBuild("fetch", row.name, row.digest, row.size_bytes)
    is_new = row is not None and row.state == "new"
    if row is None or row.worker_id == place.worker_id or _is_gone(connection, row, now_s):
        values = {**_maker(place, now_s), "state": "making"}
        # One that has not made it will not do so now.
        if host is not None and is_new:
            values |= {"worker_id": host.id, "state": "wanted"}
        connection.execute(_of(update(shared_builds), place).values(values))
        return WantedBuild("wait", host.name) if values["state"] == "wanted" and host else _MAKE
    return WantedBuild("wait", row.name)


def _maker(place: BuildPlace, now_s: float) -> dict[str, Any]:
    return {
        "worker_id": place.worker_id,
        "part_id": place.part_id,
        "attempt": place.attempt,
        "state": "new",
        "digest": "",
        "size_bytes": 0,
        "used_unix_s": now_s,
    }


def _of(statement: Any, place: BuildPlace) -> Any:
    return statement.where(
        shared_builds.c.platform == place.platform, shared_builds.c.key == place.key
    )


def _row(connection: Connection, place: BuildPlace) -> Any:
    named = select(shared_builds, workers.c.name, workers.c.status, workers.c.heartbeat_unix_s)
    chosen = _of(named.join(workers, shared_builds.c.worker_id == workers.c.id), place)
    return connection.execute(chosen.with_for_update(of=shared_builds)).first()


def _is_gone(connection: Connection, row: Any, now_s: float) -> bool:
    """Whether nobody makes a build any more: its worker is not there, or does something else."""
    if row.state == "wanted":
        # It asks every few seconds, unless it was given something else.
        return row.status != "idle" or row.heartbeat_unix_s < now_s - ASKING_LIMIT_S
    if row.status in ("gone", "quarantined") or row.heartbeat_unix_s < now_s - HEARTBEAT_LIMIT_S:
        return True
    held = select(attempts.c.outcome).where(
        attempts.c.part_id == row.part_id, attempts.c.attempt == row.attempt
    )
    return connection.execute(held).scalar() != "given"


def _unshared(connection: Connection, place: BuildPlace) -> WantedBuild | None:
    chosen = (
        select(unshared_builds, workers.c.name)
        .join(workers, unshared_builds.c.worker_id == workers.c.id)
        .where(
            unshared_builds.c.submission_id == place.submission_id,
            unshared_builds.c.platform == place.platform,
            unshared_builds.c.key == place.key,
        )
    )
    row = connection.execute(chosen).first()
    return None if row is None else WantedBuild(row.state, row.name, message=row.message)


def give_builds(connection: Connection, worker_id: int) -> GivenBuild | None:
    """Give a worker an experiment whose builds others wait for, or None where there is none.

    Builds that it was to make before, and has not sent, those who wait make themselves: it would
    not ask otherwise.
    """
    mine = (
        select(shared_builds, parts.c.submission_id, parts.c.worker_id.label("holder"))
        .join(parts, parts.c.id == shared_builds.c.part_id)
        .where(shared_builds.c.worker_id == worker_id, shared_builds.c.state != "kept")
        .with_for_update(of=shared_builds)
    )
    rows = connection.execute(mine).all()
    for row in rows:
        place = BuildPlace(
            *(row.platform, row.key, worker_id, row.part_id, row.attempt),
            submission_id=row.submission_id,
        )
        if row.state == "making" and row.holder != worker_id:
            keep_unshared(connection, place, "own", "its build host did not send it")
        elif row.state == "making":
            forget_build(connection, place)
    wanted = next((row for row in rows if row.state == "wanted"), None)
    if wanted is None:
        return None
    given = (shared_builds.c.worker_id == worker_id) & (shared_builds.c.state == "wanted")
    of_part = (shared_builds.c.part_id == wanted.part_id) & (
        shared_builds.c.attempt == wanted.attempt
    )
    connection.execute(update(shared_builds).where(given, of_part).values(state="making"))
    chosen = select(submissions).where(submissions.c.id == wanted.submission_id)
    sent = connection.execute(chosen).one()
    return GivenBuild(
        *(wanted.part_id, wanted.attempt, sent.identifier),
        *(sent.file, sent.specification, sent.plan),
    )


def keep_unshared(
    connection: Connection, place: BuildPlace, state: Literal["failed", "own"], message: str
) -> None:
    """A worker could not make a build for an experiment, or cannot share it; told once. Whoever
    waits for it is told so, and other experiments try again.

    Raises
    ------
    UsageError
        Another worker makes it.
    """
    refuse_others_build(connection, place)
    connection.execute(_of(delete(shared_builds), place))
    values = {
        "submission_id": place.submission_id,
        "platform": place.platform,
        "key": place.key,
        "worker_id": place.worker_id,
        "state": state,
        "message": message,
    }
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    connection.execute(dialect.insert(unshared_builds).values(values).on_conflict_do_nothing())


def refuse_others_build(connection: Connection, place: BuildPlace) -> None:
    """See that a worker makes a build.

    Raises
    ------
    UsageError
        It does not.
    """
    row = _row(connection, place)
    if row is None or row.state != "making" or row.worker_id != place.worker_id:
        raise UsageError("This worker was not asked to make this build.", field="key")


def keep_build(
    connection: Connection, place: BuildPlace, digest: str, size_bytes: int, now_s: float
) -> None:
    """A worker has sent the build that it was asked for."""
    values = {"state": "kept", "digest": digest, "size_bytes": size_bytes, "used_unix_s": now_s}
    connection.execute(_of(update(shared_builds), place).values(values))


def kept_build(connection: Connection, place: BuildPlace) -> tuple[str, int] | None:
    """The digest of a build that is kept, and the worker that sent it."""
    row = _row(connection, place)
    return None if row is None or row.state != "kept" else (row.digest, int(row.worker_id))


def forget_build(connection: Connection, place: BuildPlace) -> None:
    """Forget a build, so that the next who asks makes it."""
    connection.execute(_of(delete(shared_builds), place))


def is_shared(connection: Connection, digest: str) -> bool:
    """Whether an archive is that of a build which is kept."""
    chosen = select(func.count()).where(shared_builds.c.digest == digest)
    return bool(connection.execute(chosen).scalar_one())


def forget_longest_unused(connection: Connection, most_bytes: int) -> Sequence[str]:
    """Forget the builds that were not asked for longest, until the rest takes at most
    `most_bytes`; their digests."""
    rows = connection.execute(
        select(shared_builds)
        .where(shared_builds.c.state == "kept")
        .order_by(shared_builds.c.used_unix_s.desc(), shared_builds.c.key)
    ).all()
    total = 0
    gone: list[str] = []
    for row in rows:
        total += row.size_bytes
        if total > most_bytes:
            forget_build(connection, BuildPlace(row.platform, row.key, 0, 0, 0))
            gone.append(row.digest)
    return [each for each in gone if not is_shared(connection, each)]
