"""Who may see an experiment, change it, and send another."""

from __future__ import annotations

from sqlalchemy import Connection

from steelyard.core.errors import UsageError
from steelyard.core.identifier import is_identifier
from steelyard.service.accounts import Identity
from steelyard.service.submissions import (
    ListedSubmission,
    Submission,
    find_submission,
)

VISIBILITIES = ("private", "shared", "public")
# They see and cancel everyone's.
KEEPERS = ("administrator", "operator")


class DeniedError(UsageError):
    """Whoever asks is not known."""

    code = "denied"


class NotAllowedError(DeniedError):
    """Whoever asks is known, and may not do this."""

    code = "not-allowed"


def checked_visibility(visibility: str) -> None:
    """See that it is one.

    Raises
    ------
    UsageError
        It is none.
    """
    if visibility not in VISIBILITIES:
        raise UsageError(
            f"An experiment is {', '.join(VISIBILITIES)}, not {visibility!r}.", field="visibility"
        )


def may_change(who: Identity, sent: ListedSubmission) -> bool:
    """Whether it is theirs, or they keep the service."""
    return sent.account == who.name or who.role in KEEPERS


def is_open(who: Identity, visibility: str) -> bool:
    """Whether they see experiments of others with a visibility."""
    return visibility == "public" or (visibility == "shared" and who.may("read"))


def seen_submission(connection: Connection, who: Identity, identifier: str) -> Submission:
    """The experiment of an identifier.

    Raises
    ------
    UsageError
        There is none that they may see.
    """
    known = is_identifier(identifier.upper())
    found = find_submission(connection, identifier.upper()) if known else None
    if found is None or not (may_change(who, found) or is_open(who, found.visibility)):
        name = who.name or "everyone"
        raise UsageError(
            f"There is no experiment {identifier!r} here that {name} may see.", field="experiment"
        )
    return found


def own_submission(connection: Connection, who: Identity, identifier: str) -> Submission:
    """The same, which they may change.

    Raises
    ------
    UsageError
        There is none that they may see.
    NotAllowedError
        It is someone else's.
    """
    found = seen_submission(connection, who, identifier)
    if not may_change(who, found):
        raise NotAllowedError(f"The experiment {identifier} is {found.account}'s.")
    return found
