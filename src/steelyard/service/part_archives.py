"""Which trial an archive of results belongs to that a worker sends."""

from __future__ import annotations

import json

from sqlalchemy import Connection, select

from steelyard.core.errors import UsageError
from steelyard.service.service_schema import attempts, parts, submissions


def archive_place(
    connection: Connection, worker_id: int, place: tuple[int, int], position: int
) -> int:
    """The account whose experiment has the trial.

    Parameters
    ----------
    place : tuple of int
        A part, and an attempt of it.

    Raises
    ------
    UsageError
        The worker was not given this attempt, or it is ended, or has no such trial.
    """
    part_id, attempt = place
    chosen = (
        select(parts.c.positions, attempts.c.worker_id, attempts.c.outcome)
        .add_columns(submissions.c.account_id)
        .join(parts, attempts.c.part_id == parts.c.id)
        .join(submissions, submissions.c.id == parts.c.submission_id)
        .where(attempts.c.part_id == part_id, attempts.c.attempt == attempt)
    )
    row = connection.execute(chosen).first()
    if row is None or row.worker_id != worker_id:
        raise UsageError("No such part was given to this worker.", field="part")
    if row.outcome not in ("given", "lost"):
        raise UsageError(f"The attempt is over: {row.outcome}.", field="part")
    if position < 0 or position not in json.loads(row.positions):
        raise UsageError(f"The part has no trial at the position {position}.", field="position")
    return int(row.account_id)
