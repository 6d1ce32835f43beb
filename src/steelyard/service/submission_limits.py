"""Experiments that have taken too long, or cost too much time of workers, end."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, func, or_, select

from steelyard.service.service_schema import attempts, parts, submissions
from steelyard.service.submissions import OPEN_STATES, stop_submission


def end_exceeded(connection: Connection, now_s: float) -> list[str]:
    """Give nothing more out of experiments that are beyond a limit; their identifiers.

    What runs then is kept. A clock that was set back makes neither time longer.
    """
    limited = or_(submissions.c.time_limit_s.is_not(None), submissions.c.cost_limit_s.is_not(None))
    chosen = select(submissions).where(submissions.c.state.in_(OPEN_STATES), limited)
    ended: list[str] = []
    for row in connection.execute(chosen.order_by(submissions.c.id)).all():
        if why := _exceeded(connection, row, now_s):
            stop_submission(connection, row.id, why)
            ended.append(row.identifier)
    return ended


def cost_s(connection: Connection, submission_id: int, now_s: float) -> float:
    """How long workers have been busy with an experiment, in all, whatever came of it."""
    took = func.coalesce(attempts.c.ended_unix_s, now_s) - attempts.c.given_unix_s
    chosen = (
        select(took)
        .join(parts, attempts.c.part_id == parts.c.id)
        .where(parts.c.submission_id == submission_id)
    )
    return sum(max(0.0, each) for each in connection.execute(chosen).scalars())


def account_cost_s(
    connection: Connection, account_id: int, since_unix_s: float, now_s: float
) -> float:
    """How long workers have been busy with an account's experiments, with blocks that were given
    since then."""
    took = func.coalesce(attempts.c.ended_unix_s, now_s) - attempts.c.given_unix_s
    chosen = (
        select(took)
        .join(parts, attempts.c.part_id == parts.c.id)
        .join(submissions, parts.c.submission_id == submissions.c.id)
        .where(
            submissions.c.account_id == account_id,
            # Those of before a clock was set back do not count for longer than others.
            attempts.c.given_unix_s.between(since_unix_s, 2 * now_s - since_unix_s),
        )
    )
    return sum(max(0.0, each) for each in connection.execute(chosen).scalars())


def _exceeded(connection: Connection, row: Any, now_s: float) -> str:
    if row.time_limit_s is not None and now_s - row.created_unix_s > row.time_limit_s:
        return "time limit"
    if row.cost_limit_s is not None and cost_s(connection, row.id, now_s) > row.cost_limit_s:
        return "cost limit"
    return ""
