"""Screenings that have ended, and the experiments that follow them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select, update

from steelyard.service.service_schema import submissions
from steelyard.service.submissions import Submission, find_submission

# What a screening says of its follow-up until it has ended; then the identifier of the experiment
# that follows, or why none does.
WANTED = "wanted"


@dataclass(frozen=True)
class EndedScreening:
    """A screening with all its trials, who sent it, and how urgent it was."""

    sent: Submission
    account_id: int
    priority: int


def ended_screenings(connection: Connection) -> list[EndedScreening]:
    """Those that have ended and that no experiment follows yet."""
    chosen = (
        select(submissions.c.identifier, submissions.c.account_id, submissions.c.priority)
        .where(submissions.c.state == "done", submissions.c.follow_up == WANTED)
        .order_by(submissions.c.id)
    )
    found: list[EndedScreening] = []
    for row in connection.execute(chosen).all():
        sent = find_submission(connection, row.identifier)
        if sent is not None:
            found.append(EndedScreening(sent, row.account_id, row.priority))
    return found


def note_follow_up(connection: Connection, submission_id: int, told: str) -> bool:
    """Say which experiment follows a screening, or why none does; False where somebody else did."""
    chosen = (submissions.c.id == submission_id) & (submissions.c.follow_up == WANTED)
    noted = connection.execute(update(submissions).where(chosen).values(follow_up=told))
    return noted.rowcount > 0
