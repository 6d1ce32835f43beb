"""Who may do what: accounts, their roles, and tokens of which the database holds a digest alone."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from steelyard.core.errors import UsageError
from steelyard.service.service_schema import accounts, tokens

SCOPES = ("read", "submit", "cancel", "tokens", "enrol", "administer")
# What each role may do; a token may do what both its scopes and its account's role allow.
ROLES: dict[str, frozenset[str]] = {
    "administrator": frozenset(SCOPES),
    "operator": frozenset({"read", "submit", "cancel", "tokens", "enrol"}),
    "member": frozenset({"read", "submit", "cancel", "tokens"}),
    "reader": frozenset({"read", "tokens"}),
}


@dataclass(frozen=True)
class Identity:
    """Who asks, and what they may do."""

    account_id: int
    name: str
    role: str
    scopes: frozenset[str]

    def may(self, scope: str) -> bool:
        """Whether the role and the token both allow it."""
        return scope in self.scopes and scope in ROLES.get(self.role, frozenset())


# Of a token that was made further ahead than this the end is not known: the clock was set back.
_MOST_AHEAD_S = 86400.0

# Whoever has not signed in: they see what is public.
VISITOR = Identity(0, "", "visitor", frozenset())


def digest_of(token: str) -> str:
    """What is kept of a token. Tokens have 256 random bits, so that no salt is needed."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def new_token() -> str:
    """A token of 256 bits that says what it is for, so that scanners of secrets find it."""
    return f"steelyard_{secrets.token_urlsafe(32)}"


def add_account(connection: Connection, name: str, role: str, now_s: float) -> int:
    """Make an account, or give the one that is there.

    Raises
    ------
    UsageError
        There is no such role.
    """
    if role not in ROLES:
        raise UsageError(f"There is no role {role!r}. Roles: {', '.join(ROLES)}.", field="role")
    found = connection.execute(select(accounts.c.id).where(accounts.c.name == name)).scalar()
    if found is not None:
        return found
    values = {"name": name, "role": role, "created_unix_s": now_s, "disabled": False}
    return connection.execute(insert(accounts).values(values).returning(accounts.c.id)).scalar_one()


def add_token(
    connection: Connection,
    account_id: int,
    name: str,
    scopes: Iterable[str],
    now_s: float,
    expires_unix_s: float | None = None,
) -> str:
    """Make a token for an account; this is the only time that it can be seen.

    Raises
    ------
    UsageError
        There is no such scope.
    """
    asked = tuple(dict.fromkeys(scopes))
    unknown = [scope for scope in asked if scope not in SCOPES]
    if unknown:
        raise UsageError(
            f"There is no scope {unknown[0]!r}. Scopes: {', '.join(SCOPES)}.", field="scopes"
        )
    token = new_token()
    values: dict[str, Any] = {
        "account_id": account_id,
        "name": name,
        "digest": digest_of(token),
        "scopes": " ".join(asked),
        "created_unix_s": now_s,
        "expires_unix_s": expires_unix_s,
        "revoked": False,
    }
    connection.execute(insert(tokens).values(values))
    return token


def revoke_tokens(connection: Connection, account_id: int, name: str) -> int:
    """Make tokens of a name worthless; how many there were."""
    chosen = (tokens.c.account_id == account_id) & (tokens.c.name == name)
    return connection.execute(update(tokens).where(chosen).values(revoked=True)).rowcount


def identity_of_account(connection: Connection, account_id: int) -> Identity | None:
    """An account with all scopes, for what goes on without its owner; None where it is shut out."""
    chosen = select(accounts.c.name, accounts.c.role).where(
        accounts.c.id == account_id, accounts.c.disabled.is_(False)
    )
    row = connection.execute(chosen).first()
    return None if row is None else Identity(account_id, row.name, row.role, frozenset(SCOPES))


def identity_of(connection: Connection, token: str, now_s: float) -> Identity | None:
    """Whose token it is; None where it is nobody's, revoked or too old."""
    joined = select(tokens, accounts.c.name.label("account"), accounts.c.role).join(
        accounts, tokens.c.account_id == accounts.c.id
    )
    row = connection.execute(
        joined.where(
            tokens.c.digest == digest_of(token),
            tokens.c.revoked.is_(False),
            accounts.c.disabled.is_(False),
        )
    ).first()
    if row is None or not _is_valid(row, now_s):
        return None
    return Identity(row.account_id, row.account, row.role, frozenset(row.scopes.split()))


def _is_valid(row: Any, now_s: float) -> bool:
    """Whether a token has not come to its end, if it has one."""
    if row.expires_unix_s is None:
        return True
    return row.created_unix_s - _MOST_AHEAD_S <= now_s < row.expires_unix_s
