"""Benchmark packages that were sent: whose they are, and which experiment runs which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, delete, exists, func, insert, or_, select, update

from steelyard.service.package.archive import Package
from steelyard.service.service_schema import packages, parts, rehearsals, submitted_packages

# A package that no experiment names is forgotten after this.
UNUSED_S = 7 * 86_400.0


@dataclass(frozen=True)
class SentPackage:
    """A package as an account has sent it."""

    digest: str
    size_bytes: int
    member_count: int
    created_unix_s: float


def note_package(connection: Connection, account_id: int, package: Package, now_s: float) -> None:
    """An account has sent a package, perhaps again."""
    own = (packages.c.digest == package.digest) & (packages.c.account_id == account_id)
    again = connection.execute(update(packages).where(own).values(created_unix_s=now_s))
    if again.rowcount:
        return
    connection.execute(
        insert(packages).values(
            digest=package.digest,
            account_id=account_id,
            size_bytes=package.size_bytes,
            member_count=len(package.members),
            created_unix_s=now_s,
        )
    )


def account_packages(connection: Connection, account_id: int) -> list[SentPackage]:
    """What an account has sent, the newest first."""
    chosen = (
        select(packages)
        .where(packages.c.account_id == account_id)
        .order_by(packages.c.created_unix_s.desc(), packages.c.digest)
    )
    return [
        SentPackage(row.digest, row.size_bytes, row.member_count, row.created_unix_s)
        for row in connection.execute(chosen)
    ]


def account_bytes(connection: Connection, account_id: int) -> int:
    """How much an account has sent."""
    chosen = select(func.coalesce(func.sum(packages.c.size_bytes), 0))
    return int(connection.execute(chosen.where(packages.c.account_id == account_id)).scalar_one())


def unused_packages(connection: Connection, now_s: float) -> list[str]:
    """Take packages that no experiment and no rehearsal names, and nobody has sent for
    `UNUSED_S`, out of the tables; their digests."""
    used = exists().where(submitted_packages.c.digest == packages.c.digest)
    rehearsed = exists().where(
        rehearsals.c.digest == packages.c.digest, rehearsals.c.state.in_(("waiting", "given"))
    )
    newest = func.max(packages.c.created_unix_s)
    chosen = select(packages.c.digest).where(~used, ~rehearsed).group_by(packages.c.digest)
    old = connection.execute(chosen.having(newest < now_s - UNUSED_S)).scalars().all()
    if old:
        connection.execute(delete(packages).where(packages.c.digest.in_(old)))
    return list(old)


def keep_submitted_packages(
    connection: Connection, submission_id: int, digests: Mapping[str, str]
) -> None:
    """Which package an experiment means by each name in its file."""
    rows = [
        {"submission_id": submission_id, "name": name, "digest": digest}
        for name, digest in digests.items()
    ]
    if rows:
        connection.execute(insert(submitted_packages), rows)


def packages_of(connection: Connection, submission_id: int) -> dict[str, str]:
    """The digests of an experiment's packages by their names in its file."""
    chosen = select(submitted_packages).where(submitted_packages.c.submission_id == submission_id)
    return {row.name: row.digest for row in connection.execute(chosen)}


def is_given(connection: Connection, worker_id: int, digest: str) -> bool:
    """Whether a worker has been given something now that runs a package."""
    of_part = exists().where(
        submitted_packages.c.digest == digest,
        submitted_packages.c.submission_id == parts.c.submission_id,
        parts.c.worker_id == worker_id,
        parts.c.state == "given",
    )
    of_rehearsal = exists().where(
        rehearsals.c.digest == digest,
        rehearsals.c.worker_id == worker_id,
        rehearsals.c.state == "given",
    )
    return bool(connection.execute(select(or_(of_part, of_rehearsal))).scalar_one())
