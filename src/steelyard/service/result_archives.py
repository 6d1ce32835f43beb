"""Archives that `collect.sh` of benchmark packages left after trials: what is known of each.

Their bytes lie in a directory, each once by its digest. An archive belongs to an attempt of a part;
it is shown where that attempt was the one that was committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, select

from steelyard.service.service_schema import (
    attempts,
    parts,
    result_archives,
    submissions,
)

# Of attempts that came to nothing: so long may a worker still come back with their results.
FORGOTTEN_S = 7 * 86_400.0
_NOTHING = ("failed", "late", "lost", "refused")


@dataclass(frozen=True)
class ResultArchive:
    """An archive of results of one trial.

    Parameters
    ----------
    position : int
        Of the trial in its experiment.
    digest : str
        SHA-256 of its bytes; empty where it is not kept.
    size_bytes : int
    suffix : str
        That its content goes by, such as ``.tar.gz``.
    reason : str
        Why it is not kept; empty where it is.
    """

    position: int
    digest: str
    size_bytes: int
    suffix: str
    reason: str = ""

    @property
    def name(self) -> str:
        """What its file is called wherever it is given out: no word of it came from a package."""
        return f"trial-{self.position}{self.suffix}"


@dataclass(frozen=True)
class ArchiveTotals:
    """How many archives are kept, their bytes, and how many are not kept."""

    count: int
    size_bytes: int
    unkept_count: int


def note_archive(
    connection: Connection, place: tuple[int, int], found: ResultArchive, now_s: float
) -> None:
    """Keep what is known of an archive of a part and an attempt, in place of one sent before."""
    part_id, attempt = place
    own = _of_attempt(part_id, attempt) & (result_archives.c.position == found.position)
    connection.execute(delete(result_archives).where(own))
    connection.execute(
        insert(result_archives).values(
            part_id=part_id,
            attempt=attempt,
            position=found.position,
            digest=found.digest,
            size_bytes=found.size_bytes,
            suffix=found.suffix,
            reason=found.reason,
            received_unix_s=now_s,
        )
    )


def archives_of_attempt(connection: Connection, part_id: int, attempt: int) -> dict[int, str]:
    """The digests of what an attempt has sent, by position; empty for what is not kept."""
    chosen = select(result_archives).where(_of_attempt(part_id, attempt))
    return {row.position: row.digest for row in connection.execute(chosen)}


def archives_of(
    connection: Connection, submission_id: int, *, most: int | None = None
) -> list[ResultArchive]:
    """The archives of an experiment's committed trials, by position; the first `most` of them."""
    chosen = select(result_archives).join(parts, _is_committed(submission_id))
    rows = connection.execute(chosen.order_by(result_archives.c.position).limit(most))
    return [_archive(row) for row in rows]


def archive_at(connection: Connection, submission_id: int, position: int) -> ResultArchive | None:
    """The archive of one of them."""
    chosen = select(result_archives).join(parts, _is_committed(submission_id))
    row = connection.execute(chosen.where(result_archives.c.position == position)).first()
    return None if row is None else _archive(row)


def archive_totals(connection: Connection, submission_id: int) -> ArchiveTotals:
    """How many archives an experiment has."""
    kept = result_archives.c.digest != ""
    chosen = select(
        func.count().filter(kept),
        func.coalesce(func.sum(result_archives.c.size_bytes).filter(kept), 0),
        func.count().filter(~kept),
    ).select_from(result_archives)
    row = connection.execute(chosen.join(parts, _is_committed(submission_id))).one()
    return ArchiveTotals(int(row[0]), int(row[1]), int(row[2]))


def _is_committed(submission_id: int) -> ColumnElement[bool]:
    """Archives of the attempts by which the parts of an experiment are done."""
    return and_(
        parts.c.id == result_archives.c.part_id,
        parts.c.attempt == result_archives.c.attempt,
        parts.c.submission_id == submission_id,
        parts.c.state == "done",
    )


def _archive(row: Any) -> ResultArchive:
    return ResultArchive(row.position, row.digest, row.size_bytes, row.suffix, row.reason)


def account_archive_bytes(connection: Connection, account_id: int) -> int:
    """How much the archives of an account's experiments have; what is there twice counts once."""
    each = (
        select(result_archives.c.digest, func.max(result_archives.c.size_bytes).label("size"))
        .join(parts, parts.c.id == result_archives.c.part_id)
        .join(submissions, submissions.c.id == parts.c.submission_id)
        .where(submissions.c.account_id == account_id, result_archives.c.digest != "")
        .group_by(result_archives.c.digest)
        .subquery()
    )
    return int(connection.execute(select(func.coalesce(func.sum(each.c.size), 0))).scalar_one())


def may_forget(connection: Connection, worker_id: int, place: tuple[int, int]) -> bool:
    """Whether an attempt is a worker's own, and was not committed."""
    part_id, attempt = place
    own = (attempts.c.part_id == part_id) & (attempts.c.attempt == attempt)
    chosen = select(attempts.c.id).where(own, attempts.c.worker_id == worker_id)
    return connection.execute(chosen.where(attempts.c.outcome != "committed")).first() is not None


def forget_attempt(connection: Connection, part_id: int, attempt: int) -> list[str]:
    """Forget what an attempt has sent; the digests that nothing has any more."""
    digests = archives_of_attempt(connection, part_id, attempt).values()
    connection.execute(delete(result_archives).where(_of_attempt(part_id, attempt)))
    return _unused(connection, [digest for digest in digests if digest])


def forget_old(connection: Connection, now_s: float) -> list[str]:
    """The same of all attempts that came to nothing long ago."""
    chosen = (
        select(attempts.c.part_id, attempts.c.attempt)
        .join(
            result_archives,
            (result_archives.c.part_id == attempts.c.part_id)
            & (result_archives.c.attempt == attempts.c.attempt),
        )
        .where(
            attempts.c.outcome.in_(_NOTHING),
            result_archives.c.received_unix_s < now_s - FORGOTTEN_S,
        )
        .distinct()
    )
    gone: list[str] = []
    for row in connection.execute(chosen).all():
        gone += forget_attempt(connection, row.part_id, row.attempt)
    return gone


def is_known(connection: Connection, digest: str) -> bool:
    """Whether something still has an archive with a digest."""
    chosen = select(result_archives.c.part_id).where(result_archives.c.digest == digest).limit(1)
    return connection.execute(chosen).first() is not None


def _unused(connection: Connection, digests: Sequence[str]) -> list[str]:
    return [each for each in dict.fromkeys(digests) if not is_known(connection, each)]


def _of_attempt(part_id: int, attempt: int) -> ColumnElement[bool]:
    return (result_archives.c.part_id == part_id) & (result_archives.c.attempt == attempt)
