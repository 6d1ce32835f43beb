"""Invitations: a link by which one person makes an account, or sets a password anew, once."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from steelyard.service.accounts import digest_of
from steelyard.service.service_schema import accounts, invitations

INVITATION_S = 86400.0
# Where the clock is set back, one that was made before works at most so long.
_LONGEST_S = 2 * INVITATION_S


@dataclass(frozen=True)
class Invitation:
    """What a link is for: a new account with a role, or the account of that name."""

    role: str
    account_id: int | None
    name: str


def add_invitation(
    connection: Connection, role: str, now_s: float, account_id: int | None = None
) -> str:
    """Make one; the secret of its link. One that an account had before is worthless."""
    old = ~_is_worth(now_s)
    if account_id is not None:
        old = old | (invitations.c.account_id == account_id)
    connection.execute(delete(invitations).where(old))
    secret = secrets.token_urlsafe(24)
    values = {
        "digest": digest_of(secret),
        "role": role,
        "account_id": account_id,
        "expires_unix_s": now_s + INVITATION_S,
    }
    connection.execute(insert(invitations).values(values))
    return secret


def _is_worth(now_s: float) -> ColumnElement[bool]:
    expires = invitations.c.expires_unix_s
    return (expires > now_s) & (expires <= now_s + _LONGEST_S)


def find_invitation(connection: Connection, secret: str, now_s: float) -> Invitation | None:
    """What the link with a secret is for; None where it is worthless."""
    chosen = (
        select(invitations, accounts.c.name)
        .join(accounts, invitations.c.account_id == accounts.c.id, isouter=True)
        .where(invitations.c.digest == digest_of(secret), _is_worth(now_s))
    )
    row = connection.execute(chosen).first()
    return None if row is None else Invitation(row.role, row.account_id, row.name or "")


def use_invitation(connection: Connection, secret: str) -> bool:
    """Make it worthless; whether it was worth something."""
    chosen = delete(invitations).where(invitations.c.digest == digest_of(secret))
    return connection.execute(chosen).rowcount > 0
