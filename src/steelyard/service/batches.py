"""Experiments of one batch, such as those about one patch: a build that fails ends them all."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, select, update

from steelyard.service.service_schema import submissions
from steelyard.service.submissions import OPEN_STATES

# How the reason ends for which a batch was ended by a build that failed.
UNBUILT = "could not be built"


def batch_of(connection: Connection, identifier: str) -> str:
    """The batch of an experiment that is open; empty where it is of none, or has ended."""
    chosen = select(submissions.c.batch).where(
        submissions.c.identifier == identifier, submissions.c.state.in_(OPEN_STATES)
    )
    return connection.execute(chosen).scalar() or ""


def why_unbuilt(connection: Connection, account_id: int, batch: str) -> str:
    """Why an account's batch was ended by a build that failed; empty where it was not."""
    chosen = select(submissions.c.stopped).where(
        submissions.c.batch == batch,
        submissions.c.account_id == account_id,
        submissions.c.state == "cancelled",
        submissions.c.stopped.endswith(UNBUILT),
    )
    return connection.execute(chosen.limit(1)).scalar() or ""


def cancel_batch(connection: Connection, identifier: str, why: str) -> list[str]:
    """Give nothing more out of an experiment, nor of the others of its batch and account; which
    were open."""
    own = select(submissions.c.batch, submissions.c.account_id).where(
        submissions.c.identifier == identifier, submissions.c.batch != ""
    )
    row = connection.execute(own).first()
    if row is None:
        return []
    chosen = (
        (submissions.c.batch == row.batch)
        & (submissions.c.account_id == row.account_id)
        & submissions.c.state.in_(OPEN_STATES)
    )
    # Two that end one batch wait for each other in order, not in a circle.
    held = select(submissions.c.id).where(chosen).order_by(submissions.c.id)
    connection.execute(held.with_for_update(key_share=True)).all()
    ended = update(submissions).where(chosen).values(state="cancelled", stopped=why)
    return list(connection.execute(ended.returning(submissions.c.identifier)).scalars())


def never_built(outcomes: Iterable[tuple[int, str, str | None]]) -> list[int]:
    """The variants of which a build has failed, and that ran nowhere.

    Parameters
    ----------
    outcomes : iterable of (int, str, str or None)
        Of each trial its variant, status and reason.
    """
    found: dict[int, set[bool]] = {}
    for variant, status, reason in outcomes:
        if status == "ok" or reason == "build":
            found.setdefault(variant, set()).add(status == "ok")
    return sorted(variant for variant, ran in found.items() if ran == {False})
