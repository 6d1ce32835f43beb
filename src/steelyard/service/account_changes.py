"""What administrators and people change of accounts and tokens, and the lists they see."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select, update

from steelyard.core.errors import UsageError
from steelyard.service.accounts import ROLES
from steelyard.service.service_schema import accounts, linked_subjects, tokens


@dataclass(frozen=True)
class Account:
    """An account as a list shows it."""

    id: int
    name: str
    role: str
    created_unix_s: float
    is_disabled: bool
    may_sign_in: bool
    is_linked: bool


@dataclass(frozen=True)
class Token:
    """A token as a list shows it: never itself."""

    id: int
    name: str
    scopes: str
    created_unix_s: float
    expires_unix_s: float | None
    is_revoked: bool


def checked_account_name(name: str) -> str:
    """A name that a new account may have.

    Raises
    ------
    UsageError
        It is empty, too long, or has what cannot be read or told from something else.
    """
    if not (1 <= len(name) <= 64 and name.isascii() and name.isprintable() and " " not in name):
        raise UsageError(
            "An account's name has 1 to 64 letters, digits and signs of ASCII, without blanks.",
            field="name",
        )
    return name


def all_accounts(connection: Connection) -> list[Account]:
    """Every account, by name."""
    linked = set(connection.execute(select(linked_subjects.c.account_id)).scalars())
    rows = connection.execute(select(accounts).order_by(accounts.c.name))
    return [
        Account(
            row.id,
            row.name,
            row.role,
            row.created_unix_s,
            row.disabled,
            may_sign_in=bool(row.password),
            is_linked=row.id in linked,
        )
        for row in rows
    ]


def find_account(connection: Connection, number: int) -> Account:
    """The account of a number.

    Raises
    ------
    UsageError
        There is none.
    """
    for found in all_accounts(connection):
        if found.id == number:
            return found
    raise UsageError(f"There is no account {number}.", field="account")


def is_account(connection: Connection, name: str) -> bool:
    """Whether the name is taken, in whatever case."""
    chosen = select(accounts.c.id).where(func.lower(accounts.c.name) == name.lower())
    return connection.execute(chosen).first() is not None


def anyone_signs_in(connection: Connection) -> bool:
    """Whether an administrator is there who can sign in."""
    chosen = select(accounts.c.id).where(
        accounts.c.role == "administrator",
        accounts.c.password != "",
        accounts.c.disabled.is_(False),
    )
    return connection.execute(chosen.limit(1)).first() is not None


def set_password(connection: Connection, account_id: int, kept: str) -> None:
    """Keep another password; see `passwords.kept_password`."""
    chosen = update(accounts).where(accounts.c.id == account_id)
    connection.execute(chosen.values(password=kept))


def set_role(connection: Connection, account_id: int, role: str) -> None:
    """Give an account another role, which its tokens and browsers have at once.

    Raises
    ------
    UsageError
        There is no such role.
    """
    if role not in ROLES:
        raise UsageError(f"There is no role {role!r}. Roles: {', '.join(ROLES)}.", field="role")
    connection.execute(update(accounts).where(accounts.c.id == account_id).values(role=role))


def set_disabled(connection: Connection, account_id: int, *, is_disabled: bool) -> None:
    """Shut an account out, with all its tokens, or let it in again."""
    chosen = update(accounts).where(accounts.c.id == account_id)
    connection.execute(chosen.values(disabled=is_disabled))


def tokens_of(connection: Connection, account_id: int) -> list[Token]:
    """The tokens of an account that are worth something or were, the newest first."""
    chosen = select(tokens).where(tokens.c.account_id == account_id).order_by(tokens.c.id.desc())
    return [
        Token(
            row.id,
            row.name,
            row.scopes,
            row.created_unix_s,
            row.expires_unix_s,
            row.revoked,
        )
        for row in connection.execute(chosen.limit(100))
    ]


def revoke_token(connection: Connection, account_id: int, number: int) -> str:
    """Make one token of an account worthless; its name.

    Raises
    ------
    UsageError
        The account has no such token.
    """
    chosen = (tokens.c.account_id == account_id) & (tokens.c.id == number)
    name = connection.execute(select(tokens.c.name).where(chosen)).scalar()
    if name is None:
        raise UsageError(f"There is no token {number} of this account.", field="token")
    connection.execute(update(tokens).where(chosen).values(revoked=True))
    return name
